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
            let created = try String(contentsOfFile: path, encoding: .utf8)
            #expect(created == "first")
            #expect(DurableFile.replace(path, Array("third".utf8)))
            let replaced = try String(contentsOfFile: path, encoding: .utf8)
            #expect(replaced == "third")
            let files = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(files == ["file"])
        }
    }

    @Test func filesAndFoldersAreForTheirOwnerOnly() async throws {
        try await withTemporaryDirectory { directory in
            let folder = "\(directory)/a/b"
            #expect(DurableFile.makePrivateFolder(folder))
            #expect(DurableFile.create("\(folder)/file", []))
            let permissions = try [folder, "\(folder)/file"].map {
                try FileManager.default.attributesOfItem(atPath: $0)[.posixPermissions] as? Int
            }
            #expect(permissions == [0o700, 0o600])
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
