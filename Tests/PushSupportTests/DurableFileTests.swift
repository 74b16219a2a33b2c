import Foundation
import PushSupport
import PushTesting
import Testing

@Suite struct DurableFileTests {
    @Test func creatingNeverReplacesAFile() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/file"
            #expect(DurableFile.create(path, Array("first".utf8)))
            #expect(!DurableFile.create(path, Array("second".utf8)))
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "first")
            #expect(DurableFile.replace(path, Array("third".utf8)))
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "third")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["file"])
        }
    }

    @Test func filesAndFoldersAreForTheirOwnerOnly() async throws {
        try await withTemporaryDirectory { directory in
            let folder = "\(directory)/a/b"
            #expect(DurableFile.makePrivateFolder(folder))
            #expect(DurableFile.create("\(folder)/file", []))
            let files = FileManager.default
            #expect(try files.attributesOfItem(atPath: folder)[.posixPermissions] as? Int == 0o700)
            #expect(try files.attributesOfItem(atPath: "\(folder)/file")[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func aFolderIsLockedOnce() async throws {
        try await withTemporaryDirectory { directory in
            let lock = try DirectoryLock(folder: directory)
            #expect(throws: DirectoryLock.Failure.taken) { _ = try DirectoryLock(folder: directory) }
            _ = consume lock
            _ = try DirectoryLock(folder: directory)
        }
    }
}
