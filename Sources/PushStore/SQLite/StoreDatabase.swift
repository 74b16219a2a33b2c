import GRDB

/// The connections to the file: many readers and one writer.
struct StoreDatabase: Sendable {
    let pool: DatabasePool

    init(_ pool: DatabasePool) {
        self.pool = pool
    }

    func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await Self.named { try await self.pool.read(body) }
    }

    /// In one transaction, which is on disk when this returns.
    func write<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await Self.named { try await self.pool.write(body) }
    }

    /// Leaves everything in the one file, so that it can be copied without the log beside it.
    func close() throws {
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
