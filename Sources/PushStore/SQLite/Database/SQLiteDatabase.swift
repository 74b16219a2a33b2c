import GRDB
import PushSupport
import PushTypes

/// The connections to a file of SQLite: one writer, readers for the provider's services, and readers for API requests.
struct SQLiteDatabase: StoreDatabase {
    let pool: DatabasePool
    let readers: StoreReaders
    let log: WriteAheadLog
    let apps = AppCache()
    let isShared = false
    private let services: ReaderPool
    private let appChange = AppChangeMark()

    /// Creates a database from its connections, and installs the triggers and the hook on the writer's connection.
    /// - Throws: An error of SQLite.
    init(_ pool: DatabasePool, readers: StoreReaders, log: WriteAheadLog) throws {
        (self.pool, self.readers, self.log, self.services) = (pool, readers, log, ReaderPool(pool))
        try pool.writeWithoutTransaction { database in
            try self.appChange.install(in: database)
            log.watch(database)
        }
    }

    func lookup<Value: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> Value) async throws -> Value
    {
        try await Self.named { try await self.readers.lookup(body) }
    }

    /// Runs a query for an API request that may take long (``StoreReaders/query(_:)``).
    func query<Value: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> Value) async throws -> Value {
        try await Self.named { try await self.readers.query(body) }
    }

    /// Runs a long query in steps, each of which uses its own snapshot (``StoreReaders/query(from:_:)``).
    func query<State: Sendable, Value: Sendable>(
        from state: State,
        _ step: @escaping @Sendable (any SQLConnection, State) throws -> QueryStep<State, Value>
    ) async throws -> Value {
        try await Self.named { try await self.readers.query(from: state, step) }
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> Value) async throws -> Value {
        try await Self.named { try await self.readers.serve(self.services, body) }
    }

    /// Reads for a background service.
    /// - Returns: `nil` if a truncating checkpoint of the write-ahead log interrupted the read.
    func readOnce<Value: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> Value) async throws
        -> Value?
    {
        try await Self.named { try await self.readers.serveOnce(self.services, body) }
    }

    /// Writes in one transaction, which is on disk when this method returns. The transaction begins once the
    /// write-ahead log is short enough.
    func write<Value: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> Value) async throws -> Value {
        try await Self.named {
            while true {
                let result = try await self.pool.write { database -> (value: Value, hasChangedApps: Bool)? in
                    guard self.log.admitsWriter else { return nil }
                    // A failed transaction may have left the flag set.
                    _ = self.appChange.take()
                    return (try body(database), self.appChange.take())
                }
                if let result, result.hasChangedApps { self.apps.forget() }
                await self.log.foldIfLong(self.pool)
                if let result { return result.value }
            }
        }
    }

    func migrations() async throws -> [String] { try await self.lookup { try SQLiteSchema.migrations(in: $0) } }

    func faults(isAtRest: Bool, masterKey: MasterKey?) async throws -> [String] {
        try await self.read { database in
            try IntegrityCheck.damage(in: database)
                + IntegrityCheck.readableRules(in: database, isAtRest: isAtRest, masterKey: masterKey)
        }
    }

    var queryCounts: (running: Int, waiting: Int) { self.readers.queryCounts }

    func endQueries() { self.readers.end() }

    /// Rewrites the whole file, and empties the write-ahead log.
    func overwriteDeleted() async throws -> Bool {
        try await Self.named { try await self.pool.writeWithoutTransaction { try $0.execute(sql: "VACUUM") } }
        return await self.log.fold(self.pool)
    }

    func clock() async throws -> Timestamp { SystemTime().now }

    func changes() async throws -> [StoreChange: Int64] { [:] }

    /// Closes the connections once the running reads have finished. It first copies the write-ahead log into the
    /// database file, so that the file can be copied on its own.
    func close() async throws {
        try await runBlocking {
            try self.readers.close()
            // If another process is reading, the log stays and is replayed at the next start.
            _ = try? self.pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            try self.pool.close()
        }
    }

    /// Runs `body`, and replaces an error that it throws with the result of ``named(_:)-(any Error)``.
    private static func named<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch {
            throw Self.named(error)
        }
    }

    /// Returns ``StoreError/cannotWrite(why:)`` for an error of the disk, after which callers wait and try again, and
    /// `CancellationError` for a statement of a cancelled task. Any other error stays as it is.
    private static func named(_ error: any Error) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        if Self.isOfDisk(error) { return StoreError.cannotWrite(why: error.reason) }
        return error.resultCode == .SQLITE_INTERRUPT && Task.isCancelled ? CancellationError() : error
    }

    /// Returns whether an error can disappear without a change of the database. This includes `SQLITE_CANTOPEN`, which
    /// a full disk causes because files beside the database cannot be created, and `SQLITE_BUSY`.
    static func isOfDisk(_ error: DatabaseError) -> Bool {
        [.SQLITE_FULL, .SQLITE_READONLY, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_BUSY, .SQLITE_LOCKED]
            .contains(error.resultCode.primaryResultCode)
    }
}

extension DatabaseError {
    /// The description of the error, which names the disk if it is the cause. SQLite's own message describes only the
    /// last statement of a connection, and is *not an error* for other failures.
    var reason: String {
        switch self.resultCode.primaryResultCode {
        case .SQLITE_FULL: "the disk is full"
        case .SQLITE_READONLY: "the file or its disk is read-only"
        case .SQLITE_IOERR: "the disk cannot be read or written, or is full (\(self.resultCode))"
        case .SQLITE_CANTOPEN: "a file cannot be opened: the disk is full or read-only, or the folder is not ours"
        default: self.message.flatMap { $0 == "not an error" ? nil : $0 } ?? "\(self.resultCode)"
        }
    }
}
