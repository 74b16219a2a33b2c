import GRDB

/// The connections to the file: one writer, the readers of what the provider does by itself, and those of what people ask.
struct StoreDatabase: Sendable {
    let pool: DatabasePool
    let readers: StoreReaders

    init(_ pool: DatabasePool, readers: StoreReaders) {
        self.pool = pool
        self.readers = readers
    }

    /// For a person, by key or a short list: takes milliseconds at most.
    func lookup<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await Self.named { try await self.readers.lookup(body) }
    }

    /// For a person, where it may take long; see ``StoreReaders/query(_:)``.
    func query<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await Self.named { try await self.readers.query(body) }
    }

    /// For the dispatcher and the other services of the provider.
    func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await Self.named { try await self.pool.read(body) }
    }

    /// In one transaction, which is on disk when this returns.
    func write<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await Self.named { try await self.pool.write(body) }
    }

    /// Leaves everything in the one file, so that it can be copied without the log beside it.
    func close() throws {
        try self.readers.close()
        // Whoever still reads keeps the log: it is read at the next start then.
        _ = try? self.pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try self.pool.close()
    }

    /// What is the disk's fault gets the name that callers wait and answer by.
    private static func named<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as DatabaseError where Self.isOfDisk(error) {
            throw StoreError.cannotWrite(why: error.message ?? "\(error.resultCode)")
        }
    }

    /// `SQLITE_CANTOPEN` comes from a full disk too: the files beside the database cannot be made.
    /// Another process that holds the file passes too.
    private static func isOfDisk(_ error: DatabaseError) -> Bool {
        [.SQLITE_FULL, .SQLITE_READONLY, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_BUSY, .SQLITE_LOCKED]
            .contains(error.resultCode.primaryResultCode)
    }
}
