import Synchronization

/// A value or an error that is set once, and for which readers can wait.
package final class OneShotValue<Value: Sendable>: Sendable {
    private enum State {
        /// The waiting readers by their numbers, which rise in the order of arrival, and the next number.
        case waiting([Int: CheckedContinuation<Value, any Error>], next: Int)
        case known(Result<Value, any Error>)
    }

    private let state = Mutex(State.waiting([:], next: 0))

    package init() {}

    /// The value. Reading it waits until it is set, even if the task is cancelled, and throws an error that was set.
    package var value: Value { get async throws { try await self.wait { _ in } } }

    /// Waits until the value is set or the task is cancelled, and returns the value.
    ///
    /// - Throws: `CancellationError`, or the error that was set.
    package func valueUnlessCancelled() async throws -> Value {
        let number = Mutex<Int?>(nil)
        return try await withTaskCancellationHandler {
            try await self.wait { waiter in
                number.withLock { $0 = waiter }
                if Task.isCancelled { self.cancel(waiter) }
            }
        } onCancel: {
            if let waiter = number.withLock({ $0 }) { self.cancel(waiter) }
        }
    }

    /// Returns the value, and waits until it is set.
    /// - Parameter began: A closure that is called with the reader's number if it has to wait.
    private func wait(_ began: (Int) -> Void) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let (known, number): (Result<Value, any Error>?, Int) = self.state.withLock { state in
                switch state {
                case .known(let result): return (result, 0)
                case .waiting(var waiters, let number):
                    // Otherwise the state would own the waiters too, and each change would copy all of them.
                    state = .waiting([:], next: number)
                    waiters[number] = continuation
                    state = .waiting(waiters, next: number + 1)
                    return (nil, number)
                }
            }
            if let known { continuation.resume(with: known) } else { began(number) }
        }
    }

    private func cancel(_ number: Int) {
        let waiter: CheckedContinuation<Value, any Error>? = self.state.withLock { state in
            guard case .waiting(var waiters, let next) = state else { return nil }
            state = .waiting([:], next: next)
            let waiter = waiters.removeValue(forKey: number)
            state = .waiting(waiters, next: next)
            return waiter
        }
        waiter?.resume(throwing: CancellationError())
    }

    /// Sets the result and resumes all readers. Later results are ignored.
    /// - Returns: `true` if the result was set, and `false` if one had been set before.
    @discardableResult
    package func resolve(_ result: Result<Value, any Error>) -> Bool {
        let waiters: [CheckedContinuation<Value, any Error>]? = self.state.withLock { state in
            guard case .waiting(let waiters, _) = state else { return nil }
            state = .known(result)
            return waiters.sorted { $0.key < $1.key }.map(\.value)
        }
        guard let waiters else { return false }
        for waiter in waiters { waiter.resume(with: result) }
        return true
    }
}
