import NIOCore
import Synchronization

/// A counting semaphore that blocks no thread while it waits. Waiters are served in the order of their arrival.
package final class CountingSemaphore: Sendable {
    private struct State {
        var free: Int
        var waiters = CircularBuffer<CheckedContinuation<Void, Never>>()

        /// Takes a permit if one is free, and returns whether it was taken.
        mutating func take() -> Bool {
            guard self.free > 0 else { return false }
            self.free -= 1
            return true
        }
    }

    private let state: Mutex<State>

    /// Creates a semaphore that is free.
    /// - Parameter count: The maximum number of bodies that run at the same time.
    package init(count: Int) { self.state = Mutex(State(free: count)) }

    /// Runs `body` once fewer than `count` others run. A cancelled task waits too, and `body` sees the cancellation.
    package func run<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        await self.wait()
        defer { self.signal() }
        return try await body()
    }

    private func wait() async {
        if self.state.withLock({ $0.take() }) { return }
        await withCheckedContinuation { continuation in
            let isTaken = self.state.withLock { state in
                if state.take() { return true }
                state.waiters.append(continuation)
                return false
            }
            if isTaken { continuation.resume() }
        }
    }

    private func signal() {
        let next = self.state.withLock { state -> CheckedContinuation<Void, Never>? in
            if let next = state.waiters.popFirst() { return next }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}
