import Foundation
import MartletKit
import Testing

@Suite("Storage in a folder") struct FolderStorageTests {
    private static func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kit.\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.appending(path: "a/b"))
    }

    @Test("A value is read, replaced and removed, also by another object with the same folder")
    func values() throws {
        try Self.withFolder { folder in
            let (one, other) = (try FolderStorage(folder: folder), try FolderStorage(folder: folder))
            #expect(try one.read("state") == nil)
            try one.write(Data("1".utf8), for: "state")
            try one.write(Data("2".utf8), for: "state")
            #expect(try other.read("state") == Data("2".utf8))
            #expect(try other.names() == ["state"])
            try other.remove("state")
            try other.remove("state")
            #expect(try one.names().isEmpty)
            try one.write(Data(), for: "empty")
            #expect(try one.read("empty") == Data())
        }
    }

    @Test("Of many that insert a value one succeeds")
    func insert() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kit.\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let storage = try FolderStorage(folder: folder)
        for round in 0..<20 {
            let name = "receipt-\(round)"
            let winners = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<8 { group.addTask { try storage.insert(Data("\(number)".utf8), for: name) } }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(winners == 1)
            #expect(try storage.read(name)?.count == 1)
        }
        #expect(try storage.names().count == 20)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 20)
    }

    @Test(
        "A name that is no name is refused",
        arguments: ["", "..", ".hidden", "a/b", "../state", "é", "a b", String(repeating: "x", count: 201), "a\u{0}b"]
    )
    func names(name: String) throws {
        try Self.withFolder { folder in
            let storage = try FolderStorage(folder: folder)
            #expect(throws: StorageError.invalidName) { try storage.write(Data(), for: name) }
            #expect(throws: StorageError.invalidName) { try storage.insert(Data(), for: name) }
            #expect(throws: StorageError.invalidName) { try storage.read(name) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test("The folder is its user's own, and what a process left unfinished goes after an hour")
    func folder() throws {
        try Self.withFolder { folder in
            _ = try FolderStorage(folder: folder)
            let mode = try FileManager.default.attributesOfItem(atPath: folder.path)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o700)
            let now = Int64(Date().timeIntervalSince1970)
            for name in [".new-\(now)-A", ".new-\(now - 7200)-B", ".new-x", ".new-", "state"] {
                try Data("x".utf8).write(to: folder.appending(path: name))
            }
            _ = try FolderStorage(folder: folder)
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(left.sorted() == [".new-\(now)-A", "state"])
        }
    }

    @Test("A value that is too large is neither written nor read")
    func size() throws {
        try Self.withFolder { folder in
            let storage = try FolderStorage(folder: folder)
            #expect(throws: StorageError.valueTooLarge) { try storage.write(Data(count: (1 << 20) + 1), for: "large") }
            #expect(throws: StorageError.valueTooLarge) {
                _ = try storage.insert(Data(count: (1 << 20) + 1), for: "large")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
            try Data(count: 2 << 20).write(to: folder.appending(path: "large"))
            #expect(throws: StorageError.valueTooLarge) { try storage.read("large") }
        }
    }
}
