import GRDB
import PushSupport

/// A pool of connections whose readers wait for a free one without a thread.
///
/// GRDB's own pool blocks a thread of libdispatch while all its connections are in use. With many databases in one
/// process, those threads could leave none for the readers that are to free the connections.
struct ReaderPool: Sendable {
    let database: DatabasePool
    private let connections: CountingSemaphore

    init(_ database: DatabasePool) {
        self.database = database
        self.connections = CountingSemaphore(count: database.configuration.maximumReaderCount)
    }

    /// Reads one snapshot.
    func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await self.connections.run { try await self.database.read(body) }
    }
}
