import GRDB
import Synchronization

/// Writes to SQLite in groups: the work that arrives while one transaction runs shares the next one.
///
/// Work is done in the order in which it was added, each piece as a whole or not at all. The completion of a piece is
/// called on the database's queue, once the transaction that contains it has been committed.
final class GroupCommit: Sendable {
    /// A piece of work.
    private struct Step: Sendable {
        /// Does the work and returns the function to call after the end of the transaction.
        var run: @Sendable (GatewayTables) -> Finish
        /// Reports the error for which there was no transaction.
        var fail: @Sendable (any Error) -> Void
    }

    /// Reports the end of the transaction: the error, or `nil` for a commit.
    private typealias Finish = @Sendable ((any Error)?) -> Void

    private struct State {
        var waiting: [Step] = []
        var isWriting = false
        var commits = 0
    }

    private let database: any DatabaseWriter
    private let state = Mutex(State())

    init(_ database: any DatabaseWriter) { self.database = database }

    /// The number of transactions since the start.
    var commits: Int { self.state.withLock { $0.commits } }

    /// The number of pieces of work that no transaction has taken yet.
    var waiting: Int { self.state.withLock { $0.waiting.count } }

    /// Adds a piece of work to the next group. Never blocks.
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

    /// Runs a piece of work so that a failure undoes only its own changes.
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
