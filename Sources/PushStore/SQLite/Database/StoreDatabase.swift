import GRDB

/// The connections to the file: one writer, the readers of the provider's services, and those of the API's requests.
struct StoreDatabase: Sendable {
    let pool: DatabasePool
    let readers: StoreReaders
    let log: WriteAheadLog
    /// The answers to questions about apps.
    let apps = AppCache()
    private let services: ReaderPool
    private let appChange = AppChangeMark()

    /// - Throws: An error of SQLite.
    init(_ pool: DatabasePool, readers: StoreReaders, log: WriteAheadLog) throws {
        (self.pool, self.readers, self.log, self.services) = (pool, readers, log, ReaderPool(pool))
        try pool.writeWithoutTransaction { database in
            try self.appChange.install(in: database)
            log.watch(database)
        }
    }

    /// Reads by key, or a short list, for a request of the API: takes milliseconds at most.
    func lookup<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await Self.named { try await self.readers.lookup(body) }
    }

    /// Reads for a request of the API, where that may take long (``StoreReaders/query(_:)``).
    func query<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await Self.named { try await self.readers.query(body) }
    }

    /// The same in steps, each of which reads in a snapshot of its own (``StoreReaders/query(from:_:)``).
    func query<State: Sendable, Value: Sendable>(
        from state: State,
        _ step: @Sendable (Database, State) throws -> QueryStep<State, Value>
    ) async throws -> Value {
        try await Self.named { try await self.readers.query(from: state, step) }
    }

    /// Reads for the dispatcher and the other services of the provider.
    func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await Self.named { try await self.readers.serve(self.services, body) }
    }

    /// The same, where a smaller read would do.
    /// - Returns: `nil` if the log was folded before the read had ended.
    func readOnce<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value? {
        try await Self.named { try await self.readers.serveOnce(self.services, body) }
    }

    /// Writes in one transaction, which is on disk when this returns. It begins once the log has room.
    func write<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await Self.named {
            while true {
                let result = try await self.pool.write { database -> (value: Value, hasChangedApps: Bool)? in
                    guard self.log.admitsWriter else { return nil }
                    // A transaction that failed may have left it.
                    _ = self.appChange.take()
                    return (try body(database), self.appChange.take())
                }
                if let result, result.hasChangedApps { self.apps.forget() }
                await self.log.foldIfLong(self.pool)
                if let result { return result.value }
            }
        }
    }

    /// Runs one statement in a transaction of its own, which is on disk when this returns.
    /// - Returns: The number of changed rows.
    @discardableResult
    func run(sql: String, _ arguments: StatementArguments = []) async throws -> Int {
        try await self.write { try $0.run(sql: sql, arguments) }
    }

    /// Writes the whole file anew, without free space.
    func vacuum() async throws {
        try await Self.named { try await self.pool.writeWithoutTransaction { try $0.execute(sql: "VACUUM") } }
    }

    /// Closes the connections and leaves everything in the one file, so that it can be copied without the log.
    func close() throws {
        try self.readers.close()
        // A reader of another process keeps the log, which is read at the next start then.
        _ = try? self.pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try self.pool.close()
    }

    /// Turns errors of the disk into ``StoreError/cannotWrite(why:)``, for which callers wait.
    private static func named<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as DatabaseError where Self.isOfDisk(error) {
            throw StoreError.cannotWrite(why: error.reason)
        }
    }

    /// Returns `true` if an error may pass without a change of the database. `SQLITE_CANTOPEN` comes from a full disk too,
    /// as the files beside the database cannot be made; `SQLITE_BUSY` from another process.
    static func isOfDisk(_ error: DatabaseError) -> Bool {
        [.SQLITE_FULL, .SQLITE_READONLY, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_BUSY, .SQLITE_LOCKED]
            .contains(error.resultCode.primaryResultCode)
    }
}

extension DatabaseError {
    /// The error in words, which name the disk where that is the cause. SQLite has a message for the last statement of a
    /// connection only, and *not an error* for other failures.
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
