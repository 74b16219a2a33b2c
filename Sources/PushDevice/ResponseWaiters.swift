import PushSupport
import Synchronization

/// The callers that wait for responses of the push service, keyed by request.
final class ResponseWaiters<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Value, any Error>

    private struct State {
        var waiters: [Key: [UInt64: Waiter]] = [:]
        var nextID: UInt64 = 0
        var hasEnded = false
    }

    private let state = Mutex(State())

    /// Waits for the response to `key`.
    /// - Parameter request: Called once the caller is registered, so that it misses no response.
    /// - Throws: `timeoutError` after `timeout`, the error passed to ``resume(_:with:)``, or `CancellationError` if the
    ///   task is cancelled or ``end()`` is called.
    func response(
        to key: Key,
        timeout: Duration,
        timeoutError: DeviceError,
        request: @escaping @Sendable () -> Void
    ) async throws -> Value {
        let value = try await withTimeLimit(timeout) { try await self.wait(for: key, request: request) }
        guard let value else { throw timeoutError }
        return value
    }

    func resume(_ key: Key, with result: Result<Value, DeviceError>) {
        let waiters = self.state.withLock { $0.waiters.removeValue(forKey: key) ?? [:] }
        for waiter in waiters.values { waiter.resume(with: result) }
    }

    /// Ends all waits, and those of later callers, with `CancellationError`, because no more responses will arrive.
    func end() {
        let waiters = self.state.withLock { state in
            state.hasEnded = true
            defer { state.waiters = [:] }
            return state.waiters.values.flatMap(\.values)
        }
        for waiter in waiters { waiter.resume(throwing: CancellationError()) }
    }

    private func wait(for key: Key, request: @Sendable () -> Void) async throws -> Value {
        let id = self.state.withLock { state in
            defer { state.nextID += 1 }
            return state.nextID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let isWaiting = self.state.withLock { state in
                    guard !state.hasEnded, !Task.isCancelled else { return false }
                    state.waiters[key, default: [:]][id] = waiter
                    return true
                }
                guard isWaiting else { return waiter.resume(throwing: CancellationError()) }
                request()
            }
        } onCancel: {
            let waiter = self.state.withLock { $0.waiters[key]?.removeValue(forKey: id) }
            waiter?.resume(throwing: CancellationError())
        }
    }
}
