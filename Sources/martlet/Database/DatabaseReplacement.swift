import Foundation
import ProviderAPI
import PushStore
import PushSupport

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Puts a new database in the place of the old one.
///
/// After a crash at any moment, the old database is where it was, or ``ProviderConfiguration/replacementMarker`` lies there
/// and nobody serves: the next attempt goes on, and what belongs together is kept under one name.
struct DatabaseReplacement {
    /// The database and what may lie beside it, in the order in which they are moved. A log without its database is as
    /// dangerous as the database: SQLite would replay it over the new one.
    static let suffixes = ["", "-wal", "-shm", "-journal"]

    private let target: String
    private let marker: String
    private let folder: String

    init(_ places: ProviderConfiguration) {
        self.target = places.databasePath
        self.marker = places.replacementMarker
        self.folder = places.dataDirectory
    }

    /// Whether anything of a database lies there.
    var isSomethingThere: Bool { Self.isAnything(at: self.target) }

    /// Moves what lies there out of the way.
    /// - Returns: where the old database is from now on; `nil` if there was none.
    /// - Throws: ``SettingsError``. Then nobody serves until another attempt has come to its end.
    func setAside() throws -> String? {
        let aside = try self.place()
        for suffix in Self.suffixes where Self.exists(self.target + suffix) {
            try self.move(self.target + suffix, to: aside + suffix)
        }
        try self.syncFolder()
        return Self.isAnything(at: aside) ? aside : nil
    }

    /// Gives a database, which needs no other file beside it, the name of the old one.
    /// - Throws: ``SettingsError``.
    func place(_ new: String) throws {
        guard DurableFile.sync(new) else { throw self.failure("\(new) cannot be written") }
        try self.move(new, to: self.target)
        try self.syncFolder()
    }

    /// From now on it may be served from.
    func end() throws {
        try FileManager.default.removeItem(atPath: self.marker)
        try self.syncFolder()
    }

    /// The name to keep the old database under, once the marker tells it.
    private func place() throws -> String {
        // An attempt that was interrupted has moved the database already: what it left behind belongs to that one.
        if !Self.exists(self.target), let name = self.interrupted,
            !Self.suffixes.contains(where: { Self.exists(self.target + $0) && Self.exists(name + $0) })
        {
            return name
        }
        let name = self.freshName()
        // Only the last part: the folder may be called otherwise the next time.
        let text = Array(URL(fileURLWithPath: name).lastPathComponent.utf8)
        let new = "\(self.marker).new"
        if Self.exists(new) { try FileManager.default.removeItem(atPath: new) }
        // There is a marker at every moment, the old one or the new one.
        guard DurableFile.create(new, text), rename(new, self.marker) == 0 else {
            throw self.failure("\(self.marker) cannot be written")
        }
        try self.syncFolder()
        return name
    }

    /// What the marker of an attempt that did not come to its end tells.
    private var interrupted: String? {
        guard let name = try? String(contentsOfFile: self.marker, encoding: .utf8),
            name.hasPrefix(URL(fileURLWithPath: self.target).lastPathComponent + ".before-"), !name.contains("/")
        else { return nil }
        return "\(self.folder)/\(name)"
    }

    private func freshName() -> String {
        let moment = Date.now.formatted(.iso8601.timeSeparator(.omitted).dateSeparator(.omitted))
        let name = "\(self.target).before-\(moment)"
        var number = 1
        while Self.isAnything(at: number == 1 ? name : "\(name)-\(number)") { number += 1 }
        return number == 1 ? name : "\(name)-\(number)"
    }

    private func move(_ path: String, to other: String) throws {
        // Unlike rename, this never takes the place of what is there.
        do {
            try FileManager.default.moveItem(atPath: path, toPath: other)
        } catch {
            throw SettingsError("\(path) cannot be moved to \(other): \(error.localizedDescription)")
        }
    }

    private func syncFolder() throws {
        guard DurableFile.sync(self.folder) else { throw self.failure("\(self.folder) cannot be written") }
    }

    private func failure(_ what: String) -> SettingsError { SettingsError("\(what): \(DurableFile.lastError)") }

    private static func isAnything(at path: String) -> Bool { Self.suffixes.contains { Self.exists(path + $0) } }

    private static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
}
