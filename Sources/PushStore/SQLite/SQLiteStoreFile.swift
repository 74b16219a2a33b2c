import Foundation
import GRDB
import PushSupport

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The file of a ``SQLiteStore``, also while a provider has it open: it is copied and examined without migrations and
/// without the master key.
package struct SQLiteStoreFile: Sendable {
    /// What an examination found.
    package struct Condition: Hashable, Sendable {
        /// In bytes.
        package var size: Int
        /// The migrations that it has seen, in their order.
        package var migrations: [String]
        /// What SQLite finds wrong, in words.
        package var damage: [String]
        /// The store's own rules that do not hold, in words; `nil` if its migrations are not the ones of this version,
        /// so that nothing can be said of them.
        package var brokenRules: [String]?

        /// Everything that is wrong; empty for a sound file.
        package var faults: [String] { self.damage + (self.brokenRules ?? []) }
    }

    /// 4 MB.
    private static let pagesPerStep: CInt = 1000
    /// What may lie beside a database.
    private static let suffixes = ["", "-journal", "-wal", "-shm"]

    private let path: String

    package init(path: String) {
        self.path = path
    }

    /// Copies what is committed now to a file of its own that only its owner can read. The master key is not in it.
    ///
    /// Writers never wait for the copy; what they write meanwhile stays in the log until it is made. Half of the time the
    /// copy rests, so that others get at the disk too.
    /// - Parameters:
    ///   - target: a file that is not there yet; it appears once it is whole and on the disk.
    ///   - isExamined: whether the copy is examined before that, and refused if it is damaged.
    /// - Returns: what the examination found.
    /// - Throws: ``StoreError``.
    @discardableResult
    package func copy(to target: String, isExamined: Bool = true) async throws -> Condition? {
        guard !FileManager.default.fileExists(atPath: target) else {
            throw StoreError.cannotBackUp(path: target, why: "there is a file already")
        }
        let part = SQLiteStoreFile(path: "\(target).part")
        do {
            // What an earlier attempt has left.
            try part.remove()
            try part.create()
            try await self.copyPages(to: part)
            try await part.foldLog()
            let condition = isExamined ? try await part.examine() : nil
            if let damage = condition?.damage, !damage.isEmpty {
                let faults = damage.joined(separator: "; ")
                throw StoreError.cannotBackUp(path: target, why: "the copy is damaged: \(faults)")
            }
            guard DurableFile.sync(part.path), DurableFile.place(part.path, at: target) else {
                throw StoreError.cannotBackUp(path: target, why: "it cannot be written: \(DurableFile.lastError)")
            }
            return condition
        } catch {
            try? part.remove()
            guard !(error is StoreError) else { throw error }
            throw StoreError.cannotBackUp(path: target, why: Self.text(error))
        }
    }

    private func copyPages(to part: SQLiteStoreFile) async throws {
        let source = try self.open(isReadOnly: true)
        defer { try? source.close() }
        let queue = try part.open(isReadOnly: false)
        defer { try? queue.close() }
        // On the reader's own thread, which may rest.
        try await source.read { source in
            // Begins the snapshot. Without one, a copy in steps begins anew whenever somebody writes in between.
            _ = try source.tableExists("notification")
            var stepBegan = ContinuousClock.now
            try queue.writeWithoutTransaction { destination in
                try source.backup(to: destination, pagesPerStep: Self.pagesPerStep) { state in
                    guard !state.isCompleted else { return }
                    let time = min(ContinuousClock.now - stepBegan, .milliseconds(500))
                    Thread.sleep(forTimeInterval: time / .seconds(1))
                    stepBegan = .now
                }
            }
        }
    }

    /// Reads the whole file, as it is committed now. Takes about a second per million deliveries.
    /// - Parameters:
    ///   - isAtRest: whether nobody sends and the last one who did has ended in order or has been recovered.
    ///   - masterKey: with which every secret is tried to be opened; `nil` leaves that out.
    /// - Throws: ``StoreError`` for a file that cannot be read at all.
    package func examine(isAtRest: Bool = false, masterKey: MasterKey? = nil) async throws -> Condition {
        let queue = try self.open(isReadOnly: true)
        defer { try? queue.close() }
        do {
            return try await queue.read { database in
                guard try database.tableExists("grdb_migrations"), try database.tableExists("notification") else {
                    throw StoreError.cannotOpen(path: self.path, why: "it is no database of a provider")
                }
                let migrations = try String.fetchAll(
                    database,
                    sql: "SELECT identifier FROM grdb_migrations ORDER BY rowid"
                )
                let size = try Int.fetchOne(
                    database,
                    sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
                )
                let isKnown = migrations == SQLiteSchema.migrator.migrations
                return Condition(
                    size: size ?? 0,
                    migrations: migrations,
                    damage: try Integrity.damage(in: database),
                    brokenRules: isKnown
                        ? try Integrity.brokenRules(in: database, isAtRest: isAtRest, masterKey: masterKey) : nil
                )
            }
        } catch let error as DatabaseError {
            throw StoreError.cannotOpen(path: self.path, why: Self.text(error))
        }
    }

    /// Tells whether secrets are sealed in the database, in any of its versions; `false` if there is none.
    /// - Throws: ``StoreError`` for a file that is there and cannot be read.
    package func holdsSecrets() throws -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: self.path)
        // A file without a byte is a database that nothing was written to yet.
        guard let size = attributes?[.size] as? Int, size > 0 else { return false }
        let queue = try self.open(isReadOnly: true)
        defer { try? queue.close() }
        do {
            return try queue.read { database in
                try ["credential", "webhook"].contains { table in
                    guard try database.tableExists(table) else { return false }
                    return try Row.fetchOne(database, sql: "SELECT 1 FROM \(table) LIMIT 1") != nil
                }
            }
        } catch let error as DatabaseError {
            throw StoreError.cannotOpen(path: self.path, why: Self.text(error))
        }
    }

    /// Writes what is in the log beside it into the file itself, which needs no others then, also where nothing can be
    /// written. Nobody else may have it open.
    /// - Throws: ``StoreError``.
    package func foldLog() async throws {
        let queue = try self.open(isReadOnly: false)
        defer { try? queue.close() }
        do {
            let mode = try await queue.writeWithoutTransaction { database in
                try String.fetchOne(database, sql: "PRAGMA journal_mode = DELETE")
            }
            guard mode == "delete", !FileManager.default.fileExists(atPath: "\(self.path)-wal") else {
                throw StoreError.cannotOpen(path: self.path, why: "somebody else has it open")
            }
        } catch let error as DatabaseError {
            throw StoreError.cannotOpen(path: self.path, why: Self.text(error))
        }
    }

    /// Empty, for its owner only.
    private func create() throws {
        let mode = [FileAttributeKey.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: self.path, contents: nil, attributes: mode) else {
            throw StoreError.cannotBackUp(path: self.path, why: "it cannot be written: \(DurableFile.lastError)")
        }
    }

    private func remove() throws {
        for suffix in Self.suffixes where FileManager.default.fileExists(atPath: self.path + suffix) {
            try FileManager.default.removeItem(atPath: self.path + suffix)
        }
    }

    private func open(isReadOnly: Bool) throws -> DatabaseQueue {
        guard FileManager.default.fileExists(atPath: self.path) else {
            throw StoreError.cannotOpen(path: self.path, why: "there is no such file")
        }
        var configuration = Configuration()
        configuration.readonly = isReadOnly
        configuration.busyMode = .timeout(30)
        do {
            return try DatabaseQueue(path: self.path, configuration: configuration)
        } catch let error as DatabaseError where isReadOnly && Self.isOfFolder(error) {
            return try self.openAsItIs(configuration)
        } catch {
            throw StoreError.cannotOpen(path: self.path, why: Self.text(error))
        }
    }

    /// To read a database with a log, SQLite makes files beside it, also where there is no log. Where it may not, the file
    /// is everything: nobody writes to it.
    private func openAsItIs(_ configuration: Configuration) throws -> DatabaseQueue {
        // An empty log has nothing to say.
        let isAlone = !["-wal", "-journal"].contains { suffix in
            let found = try? FileManager.default.attributesOfItem(atPath: self.path + suffix)
            return (found?[.size] as? Int ?? 0) > 0
        }
        var address = URLComponents()
        address.scheme = "file"
        address.path = URL(filePath: self.path).path
        address.queryItems = [URLQueryItem(name: "immutable", value: "1")]
        guard isAlone, let uri = address.string,
            let queue = try? DatabaseQueue(path: uri, configuration: configuration)
        else {
            throw StoreError.cannotOpen(
                path: self.path,
                why:
                    "to read it, files beside it have to be written, and its folder cannot be: copy it, with those beside it, to one that can"
            )
        }
        return queue
    }

    private static func isOfFolder(_ error: DatabaseError) -> Bool {
        [.SQLITE_READONLY, .SQLITE_CANTOPEN].contains(error.resultCode.primaryResultCode)
    }

    private static func text(_ error: any Error) -> String {
        if let error = error as? DatabaseError { return error.message ?? "\(error.resultCode)" }
        return ErrorDescription.of(error)
    }
}
