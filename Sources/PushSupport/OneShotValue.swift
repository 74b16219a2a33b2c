import Synchronization

/// A value or an error that is set once. Readers wait for it.
package final class OneShotValue<Value: Sendable>: Sendable {
    private enum State {
        case waiting([CheckedContinuation<Value, any Error>])
        case known(Result<Value, any Error>)
    }

    private let state = Mutex(State.waiting([]))

    /// Creates a value that is not set.
    package init() {}

    /// The value. Reading it waits until it is set, regardless of cancellation.
    package var value: Value {
        get async throws {
            try await withCheckedThrowingContinuation { waiter in
                let known: Result<Value, any Error>? = self.state.withLock { state in
                    switch state {
                    case .known(let result): return result
                    case .waiting(let waiters):
                        state = .waiting(waiters + [waiter])
                        return nil
                    }
                }
                if let known { waiter.resume(with: known) }
            }
        }
    }

    /// Sets the result and resumes all readers. Later results are ignored.
    package func resolve(_ result: Result<Value, any Error>) {
        let waiters: [CheckedContinuation<Value, any Error>] = self.state.withLock { state in
            guard case .waiting(let waiters) = state else { return [] }
            state = .known(result)
            return waiters
        }
        for waiter in waiters { waiter.resume(with: result) }
    }
}
