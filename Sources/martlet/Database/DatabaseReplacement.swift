import Foundation
import ProviderAPI
import PushSupport

/// The replacement of a provider's database with another one. After a crash at any time, either the old database is in
/// place, or the file ``ProviderConfiguration/replacementMarker`` exists and no provider starts. The next attempt then
/// continues the replacement, and keeps all files of the old database under one name.
struct DatabaseReplacement {
    /// The file name suffixes of the database and of SQLite's files beside it, in the order in which they are moved. A
    /// log must be moved even if its database is missing, because SQLite would apply it to the new database.
    static let suffixes = ["", "-wal", "-shm", "-journal"]

    let paths: ProviderConfiguration

    private var target: String { self.paths.databasePath }
    /// The path of the file that marks an unfinished replacement. It contains the new name of the old database.
    private var marker: String { self.paths.replacementMarker }
    private var directory: String { self.paths.dataDirectory }

    var hasOldFiles: Bool { Self.hasFiles(at: self.target) }

    /// Renames the files of the old database.
    /// - Returns: The new path of the old database, or `nil` if there was none.
    /// - Throws: ``SettingsError`` if a file cannot be renamed. No provider then starts until another attempt succeeds.
    func setAside() throws -> String? {
        let aside = try self.reservedName()
        for suffix in Self.suffixes where Self.exists(self.target + suffix) {
            try self.move(self.target + suffix, to: aside + suffix)
        }
        try self.syncDirectory()
        return Self.hasFiles(at: aside) ? aside : nil
    }

    /// Moves a new database, which must have no log beside it, to the path of the old one.
    /// - Throws: ``SettingsError`` if it cannot be moved or written.
    func moveIntoPlace(_ new: String) throws {
        guard DurableFile.sync(new) else { throw self.failure("\(new) cannot be written") }
        try self.move(new, to: self.target)
        try self.syncDirectory()
    }

    func finish() throws {
        try FileManager.default.removeItem(atPath: self.marker)
        try self.syncDirectory()
    }

    private func reservedName() throws -> String {
        // An interrupted attempt has already moved the database, to which the remaining files belong.
        if !Self.exists(self.target), let name = self.interruptedName,
            !Self.suffixes.contains(where: { Self.exists(self.target + $0) && Self.exists(name + $0) })
        {
            return name
        }
        let name = self.freshName()
        // The marker contains only the file name, because the directory may have another path the next time.
        let text = Array(URL(fileURLWithPath: name).lastPathComponent.utf8)
        let new = "\(self.marker).new"
        if Self.exists(new) { try FileManager.default.removeItem(atPath: new) }
        // At any time one of the two markers exists, the old one or the new one.
        guard DurableFile.create(new, text), rename(new, self.marker) == 0 else {
            throw self.failure("\(self.marker) cannot be written")
        }
        try self.syncDirectory()
        return name
    }

    /// The path for the old database that an interrupted attempt has recorded, or `nil` if there was no such attempt.
    private var interruptedName: String? {
        guard let name = try? String(contentsOfFile: self.marker, encoding: .utf8),
            name.hasPrefix(URL(fileURLWithPath: self.target).lastPathComponent + ".before-"), !name.contains("/")
        else { return nil }
        return "\(self.directory)/\(name)"
    }

    private func freshName() -> String {
        let time = Date.now.formatted(.iso8601.timeSeparator(.omitted).dateSeparator(.omitted))
        let name = "\(self.target).before-\(time)"
        var number = 1
        while Self.hasFiles(at: number == 1 ? name : "\(name)-\(number)") { number += 1 }
        return number == 1 ? name : "\(name)-\(number)"
    }

    private func move(_ path: String, to other: String) throws {
        // Unlike rename, this never replaces an existing file.
        do {
            try FileManager.default.moveItem(atPath: path, toPath: other)
        } catch {
            throw SettingsError("\(path) cannot be moved to \(other): \(error.localizedDescription)")
        }
    }

    /// Makes the entries of the data directory durable, so that a power failure does not undo a move.
    private func syncDirectory() throws {
        guard DurableFile.sync(self.directory) else { throw self.failure("\(self.directory) cannot be written") }
    }

    private func failure(_ what: String) -> SettingsError { SettingsError("\(what): \(DurableFile.lastError)") }

    private static func hasFiles(at path: String) -> Bool { Self.suffixes.contains { Self.exists(path + $0) } }

    private static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
}
