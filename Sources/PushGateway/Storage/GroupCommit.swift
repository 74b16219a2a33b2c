import GRDB
import Synchronization

/// Writes to SQLite in groups: the writes that arrive while one transaction runs share the next one.
///
/// Writes run in the order in which they were added, each completely or not at all. The completion of a write is called
/// on the database's queue, once the transaction that contains the write has been committed.
final class GroupCommit: Sendable {
    private struct Step: Sendable {
        /// The closure that performs the write. It returns the function to call after the end of the transaction.
        var run: @Sendable (GatewayTables) -> Finish
        /// The closure that reports the error that prevented the write.
        var fail: @Sendable (any Error) -> Void
    }

    /// The function that reports the end of the transaction to a write, with the error or with `nil` if it was
    /// committed.
    private typealias Finish = @Sendable ((any Error)?) -> Void

    private struct State {
        var waiting: [Step] = []
        var isWriting = false
        var commits = 0
    }

    private let database: any DatabaseWriter
    private let state = Mutex(State())

    init(_ database: any DatabaseWriter) { self.database = database }

    var commits: Int { self.state.withLock { $0.commits } }

    var waiting: Int { self.state.withLock { $0.waiting.count } }

    /// Adds a write to the next group. The call never blocks. `completion` is called with the result of `work` or an
    /// error, once the group is committed or has failed.
    func add<Value: Sendable>(
        _ work: @escaping @Sendable (GatewayTables) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let step = Step(
            run: { tables in
                let result = Result { try Self.inSavepoint(tables, work) }
                return { error in completion(error.map { .failure($0) } ?? result) }
            },
            fail: { completion(.failure($0)) }
        )
        let starts = self.state.withLock { state in
            state.waiting.append(step)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if starts { self.writeGroup() }
    }

    private func writeGroup() {
        self.database.asyncWriteWithoutTransaction { database in
            let steps = self.state.withLock { state in
                state.commits += 1
                defer { state.waiting.removeAll() }
                return state.waiting
            }
            var finishes: [Finish] = []
            var failure: (any Error)?
            do {
                try database.inTransaction {
                    finishes = steps.map { $0.run(GatewayTables(database: database)) }
                    return .commit
                }
            } catch {
                failure = error
            }
            for finish in finishes { finish(failure) }
            if let failure { for step in steps.dropFirst(finishes.count) { step.fail(failure) } }
            let continues = self.state.withLock { state in
                state.isWriting = !state.waiting.isEmpty
                return state.isWriting
            }
            if continues { self.writeGroup() }
        }
    }

    /// Performs a write in a savepoint, so that its failure undoes only its own changes.
    private static func inSavepoint<Value>(
        _ tables: GatewayTables,
        _ work: (GatewayTables) throws -> Value
    ) throws -> Value {
        var value: Result<Value, any Error>?
        try tables.database.inSavepoint {
            value = .success(try work(tables))
            return .commit
        }
        guard let value else { throw DatabaseError(message: "the savepoint did not run") }
        return try value.get()
    }
}
