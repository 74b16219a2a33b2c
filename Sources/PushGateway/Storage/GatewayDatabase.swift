import Foundation
import GRDB
import PushSupport

/// The gateway's SQLite database, which performs all reads and writes of its tables.
///
/// It uses a write-ahead log with `synchronous = NORMAL`. Acknowledged changes survive the end of the process. A power
/// failure can lose the last transactions.
final class GatewayDatabase: Sendable {
    static let file = "gateway.sqlite"

    private let pool: DatabasePool
    private let group: GroupCommit
    /// Limits concurrent reads to the pool's connections. A read waits for one without blocking a thread.
    private let readers: CountingSemaphore

    /// Opens the file, creating it with permissions 0600, and brings its schema up to date.
    /// - Throws: ``GatewayError/badFile(path:why:)`` for a file that SQLite rejects, or that a version with another
    ///   schema has written.
    init(path: String) throws {
        do {
            // SQLite gives its log files the permissions of the database file.
            if !FileManager.default.fileExists(atPath: path) {
                _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
            }
            let pool = try DatabasePool(path: path)
            let migrator = GatewaySchema.migrator
            guard try pool.read({ try !migrator.hasBeenSuperseded($0) }) else {
                let why = """
                    it was written by another version of Martlet, older or newer, whose data this one cannot read; \
                    start that version, or move the file away to begin without its data
                    """
                throw GatewayError.badFile(path: path, why: why)
            }
            try migrator.migrate(pool)
            self.pool = pool
            self.group = GroupCommit(pool)
            self.readers = CountingSemaphore(count: pool.configuration.maximumReaderCount)
        } catch let error as DatabaseError {
            throw GatewayError.badFile(path: path, why: "\(error)")
        }
    }

    /// Reads on the calling thread. This method is used only when the gateway starts.
    func read<Value>(_ work: (GatewayTables) throws -> Value) throws -> Value {
        try self.pool.read { try work(GatewayTables(database: $0)) }
    }

    /// Writes on the calling thread. This method is used only when the gateway starts.
    func write(_ work: (GatewayTables) throws -> Void) throws {
        try self.pool.write { try work(GatewayTables(database: $0)) }
    }

    /// Reads from one snapshot of the database.
    func read<Value: Sendable>(_ work: @escaping @Sendable (GatewayTables) throws -> Value) async throws -> Value {
        try await self.readers.run { try await self.pool.read { try work(GatewayTables(database: $0)) } }
    }

    /// Writes in a separate transaction, and returns when it is committed.
    func write<Value: Sendable>(_ work: @escaping @Sendable (GatewayTables) throws -> Value) async throws -> Value {
        try await self.pool.write { try work(GatewayTables(database: $0)) }
    }

    /// Writes in the transaction of the next group (``GroupCommit``). The call never blocks.
    func commit<Value: Sendable>(
        _ work: @escaping @Sendable (GatewayTables) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        self.group.add(work, completion: completion)
    }

    /// Writes in the transaction of the next group, and returns when it is committed.
    func commit<Value: Sendable>(_ work: @escaping @Sendable (GatewayTables) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { waiter in
            self.group.add(work) { waiter.resume(with: $0) }
        }
    }

    /// Waits until all earlier writes of ``commit(_:completion:)`` are committed.
    func flush() async throws { try await self.commit { _ in } }

    var commits: Int { self.group.commits }

    var commitBacklog: Int { self.group.waiting }

    /// Closes the database once the running reads have finished. Later reads and writes throw.
    func close() async throws { try await runBlocking { try self.pool.close() } }
}
