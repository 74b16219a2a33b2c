public import Foundation

/// A persistent storage for named values.
///
/// An app and its notification service extension share it, so each operation must be atomic for both: a reader finds a
/// value as it was before or after a change. Names consist of letters, digits, `-`, `.` and `_`, and have at most 200
/// bytes.
public protocol MartletStorage: Sendable {
    /// Returns the names of all values, in any order.
    func names() throws -> [String]
    /// Returns the value with a name, or `nil` if there is none.
    func read(_ name: String) throws -> Data?
    /// Sets the value with a name, and replaces an existing one.
    func write(_ value: Data, for name: String) throws
    /// Stores a value and returns `true`, or returns `false` if the name exists. If two processes insert the same name,
    /// only one succeeds.
    func insert(_ value: Data, for name: String) throws -> Bool
    /// Removes the value with a name, if it exists.
    func remove(_ name: String) throws
}

/// A storage with one file per value in one folder. Each file is written atomically.
///
/// The folder of an app group is shared with the app's extension. The system's rename and link are atomic between
/// processes, so that no lock is needed that a terminated process could keep. On Apple's systems, the folder is
/// excluded from backups, because its contents belong to this device.
public struct FolderStorage: MartletStorage {
    /// The maximum size of a value in bytes. A larger one is neither stored nor read.
    static let maximumValue = 1024 * 1024
    /// The prefix of the names of unfinished files. The time of creation in seconds since 1970 follows.
    private static let unfinished = ".new-"

    private let folder: URL

    /// Creates the folder if it is missing, and removes files that were left unfinished over an hour ago.
    /// - Throws: An error of the file system.
    public init(folder: URL) throws {
        // The folder contains the secret of the installation.
        let own: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: own)
        self.folder = folder
        self.removeUnfinished()
        #if canImport(Darwin)
        var (excluded, values) = (folder, URLResourceValues())
        values.isExcludedFromBackup = true
        try excluded.setResourceValues(values)
        #endif
    }

    /// Removes files that a process left unfinished when it terminated, if they are more than an hour old.
    private func removeUnfinished() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: self.folder.path)) ?? []
        for name in names where name.hasPrefix(Self.unfinished) {
            let began = Int64(name.dropFirst(Self.unfinished.count).prefix { $0 != "-" }) ?? 0
            guard abs(Date().timeIntervalSince1970 - Double(began)) > 3600 else { continue }
            try? FileManager.default.removeItem(at: self.folder.appending(path: name))
        }
    }

    private func newFile() -> URL {
        let seconds = Int64(Date().timeIntervalSince1970)
        return self.folder.appending(path: "\(Self.unfinished)\(seconds)-\(UUID().uuidString)")
    }

    public func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self.folder.path).filter { Self.isName($0) }
    }

    public func read(_ name: String) throws -> Data? {
        do {
            let file = try FileHandle(forReadingFrom: try self.file(name))
            defer { try? file.close() }
            guard let value = try file.read(upToCount: Self.maximumValue + 1) else { return Data() }
            try Self.check(value)
            return value
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
            return nil
        }
    }

    public func write(_ value: Data, for name: String) throws {
        try Self.check(value)
        try value.write(to: try self.file(name), options: .atomic)
    }

    public func insert(_ value: Data, for name: String) throws -> Bool {
        let (file, new) = (try self.file(name), self.newFile())
        guard !FileManager.default.fileExists(atPath: file.path) else { return false }
        try Self.check(value)
        // The file is also removed after a write that failed on a full disk.
        defer { try? FileManager.default.removeItem(at: new) }
        try value.write(to: new)
        do {
            // A link fails if there is a file of that name, and otherwise makes the whole file appear at once.
            try FileManager.default.linkItem(at: new, to: file)
            return true
        } catch {
            guard FileManager.default.fileExists(atPath: file.path) else { throw error }
            return false
        }
    }

    public func remove(_ name: String) throws {
        do {
            try FileManager.default.removeItem(at: try self.file(name))
        } catch let error as CocoaError where error.code == .fileNoSuchFile {}
    }

    private static func check(_ value: Data) throws {
        guard value.count <= Self.maximumValue else { throw StorageError.valueTooLarge }
    }

    /// Returns the URL of the file for a name.
    /// - Throws: ``StorageError/invalidName`` if the name is not valid and could lead out of the folder.
    private func file(_ name: String) throws -> URL {
        guard Self.isName(name) else { throw StorageError.invalidName }
        return self.folder.appending(path: name)
    }

    private static func isName(_ name: String) -> Bool {
        (1...200).contains(name.utf8.count) && !name.hasPrefix(".") && name.utf8.allSatisfy(\.isName)
    }
}

/// An error of ``FolderStorage``.
public enum StorageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error for a name that is not valid in a storage.
    case invalidName
    /// The error for a value that is larger than 1 MiB and was not stored.
    case valueTooLarge

    public var description: String {
        switch self {
        case .invalidName: "a name has 1 to 200 letters, digits, -, . or _, and begins with no dot"
        case .valueTooLarge: "a value has 1 MiB at most: store less under one name"
        }
    }
}
