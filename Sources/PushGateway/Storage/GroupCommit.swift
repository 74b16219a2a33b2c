import GRDB
import Synchronization

/// Writes to SQLite in groups: what comes while one transaction runs goes into the next one together.
///
/// Work is done in the order in which it was added, each piece whole or not at all; its completion is called, on the
/// database's queue, once the transaction that holds it has been committed.
final class GroupCommit: Sendable {
    /// A piece of work: what to do in the transaction, which returns what to call after its end, and what to call if
    /// there was no transaction.
    private struct Step: Sendable {
        var run: @Sendable (Database) -> Finish
        var fail: @Sendable (any Error) -> Void
    }

    private typealias Finish = @Sendable ((any Error)?) -> Void

    private struct State {
        var waiting: [Step] = []
        var isWriting = false
        var commits = 0
    }

    private let database: any DatabaseWriter
    private let state = Mutex(State())

    init(_ database: any DatabaseWriter) {
        self.database = database
    }

    /// Transactions so far.
    var commits: Int { self.state.withLock { $0.commits } }
    /// Pieces of work that no transaction has taken yet.
    var waiting: Int { self.state.withLock { $0.waiting.count } }

    func add<Value: Sendable>(
        _ work: @escaping @Sendable (Database) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let step = Step(
            run: { database in
                let result = Result { try Self.inSavepoint(database, work) }
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

    func write<Value: Sendable>(_ work: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { waiter in
            self.add(work) { waiter.resume(with: $0) }
        }
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
                    finishes = steps.map { $0.run(database) }
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

    /// A piece of work that fails takes back only what it did itself.
    private static func inSavepoint<Value>(
        _ database: Database,
        _ work: (Database) throws -> Value
    ) throws -> Value {
        var value: Result<Value, any Error>?
        try database.inSavepoint {
            value = .success(try work(database))
            return .commit
        }
        guard let value else { throw DatabaseError(message: "the savepoint did not run") }
        return try value.get()
    }
}
