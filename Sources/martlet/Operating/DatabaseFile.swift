import Foundation
import GRDB
import PushProtocol

/// A provider's database as a file: copied and examined without the store's code, also while a provider writes it.
struct DatabaseFile: Sendable {
    /// What an examination found.
    struct Condition: Hashable, Sendable {
        /// In bytes.
        var size: Int
        /// The migrations that it has seen, in their order.
        var migrations: [String]
        /// What is wrong with it, up to 20 sentences; empty for a sound file.
        var faults: [String]
    }

    private static let longestList = 20

    let path: String

    /// Copies what is committed now to a new file that only its owner can read. Writers are not held up.
    /// - Throws: ``SettingsError``.
    func copy(to target: String) throws {
        let source = try self.open(isReadOnly: true)
        guard !FileManager.default.fileExists(atPath: target) else {
            throw SettingsError("\(target) is there already: move it away or name another file")
        }
        guard FileManager.default.createFile(atPath: target, contents: nil, attributes: [.posixPermissions: 0o600])
        else { throw SettingsError("\(target) cannot be written") }
        do {
            let copy = try DatabaseFile(path: target).open(isReadOnly: false)
            // In one step: a copy in several begins anew whenever somebody writes in between.
            try source.backup(to: copy)
            try copy.close()
            try DatabaseFile(path: target).foldLog()
        } catch {
            try? FileManager.default.removeItem(atPath: target)
            throw SettingsError("\(self.path) cannot be copied to \(target): \(Self.text(error))")
        }
    }

    /// Writes what is in the log beside it into the file itself, which needs no others then, also where nothing can be
    /// written. Nobody else may have it open.
    func foldLog() throws {
        let database = try self.open(isReadOnly: false)
        let mode = try database.writeWithoutTransaction { database in
            try String.fetchOne(database, sql: "PRAGMA journal_mode = DELETE")
        }
        try database.close()
        guard mode == "delete", !FileManager.default.fileExists(atPath: "\(self.path)-wal") else {
            throw SettingsError("\(self.path) is open elsewhere")
        }
    }

    /// Reads the whole file.
    /// - Throws: ``SettingsError`` for one that cannot be read at all.
    func condition() throws -> Condition {
        let database = try self.open(isReadOnly: true)
        do {
            return try database.read { database in
                guard try database.tableExists("grdb_migrations"), try database.tableExists("notification") else {
                    throw SettingsError("\(self.path) is no database of a provider")
                }
                let integrity = try String.fetchAll(database, sql: "PRAGMA integrity_check(\(Self.longestList))")
                let orphans = try Row.fetchAll(database, sql: "SELECT * FROM pragma_foreign_key_check LIMIT 20")
                    .map { row -> String in
                        let (table, parent): (String?, String?) = (row["table"], row["parent"])
                        return "a row of \(table ?? "?") names one of \(parent ?? "?") that is not there"
                    }
                let pages = try Int.fetchOne(
                    database,
                    sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
                )
                return Condition(
                    size: pages ?? 0,
                    migrations: try String.fetchAll(
                        database,
                        sql: "SELECT identifier FROM grdb_migrations ORDER BY rowid"
                    ),
                    faults: integrity.filter { $0 != "ok" } + orphans
                )
            }
        } catch let error as DatabaseError {
            throw SettingsError("\(self.path) cannot be read: \(Self.text(error))")
        }
    }

    private func open(isReadOnly: Bool) throws -> DatabaseQueue {
        guard FileManager.default.fileExists(atPath: self.path) else {
            throw SettingsError("there is no \(self.path)")
        }
        var configuration = Configuration()
        configuration.readonly = isReadOnly
        configuration.busyMode = .timeout(30)
        do {
            return try DatabaseQueue(path: self.path, configuration: configuration)
        } catch {
            throw SettingsError("\(self.path) cannot be opened: \(Self.text(error))")
        }
    }

    private static func text(_ error: any Error) -> String {
        if let error = error as? DatabaseError { return error.message ?? "\(error.resultCode)" }
        return ErrorText.of(error)
    }
}
