package import ProviderModel
import ServiceLifecycle
import Synchronization

/// A signal that wakes a sleeping service when there is new work, a slot is free, or the clock was set.
///
/// A cancelled task ends only its own wait, so that a service that starts again can wait for the same signal.
package final class WakeSignal: Sendable {
    private struct State {
        var isSignalled = false, hasEnded = false
        /// The task that waits, or `nil` if none does.
        var waiter: CheckedContinuation<Bool, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    package func signal() { self.resume(true) { $0.isSignalled = $0.waiter == nil } }

    /// Ends the wait in progress and all later ones: ``wait(atMost:)`` returns `false`.
    package func end() { self.resume(false) { $0.hasEnded = true } }

    private func resume(_ value: Bool, _ change: (inout State) -> Void) {
        let waiter = self.state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: value)
    }

    /// Runs `work`. Graceful shutdown ends all waits for this signal, and cancellation the wait of `work`.
    func untilShutdown(_ work: () async -> Void) async {
        await withGracefulShutdownHandler(operation: work) { self.end() }
    }

    /// Waits for a signal, at most for `limit`. One task at a time may wait.
    /// - Returns: `true` after a signal or when `limit` has passed, and `false` after ``end()`` and in a cancelled task.
    package func wait(atMost limit: Duration) async -> Bool {
        let timer = Task {
            try await Task.sleep(for: limit)
            self.signal()
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = self.state.withLock { state -> Bool? in
                    if state.hasEnded || Task.isCancelled { return false }
                    if state.isSignalled {
                        state.isSignalled = false
                        return true
                    }
                    state.waiter = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            self.resume(false) { _ in }
        }
    }
}

/// The signals that wake the dispatcher's two lanes: the urgent one, and the bulk one for campaigns.
package struct LaneWakeSignals: Sendable {
    private let urgent = WakeSignal()
    private let bulk = WakeSignal()

    package init() {}

    package subscript(lane: NotificationRecord.Lane) -> WakeSignal {
        switch lane {
        case .urgent: self.urgent
        case .bulk: self.bulk
        }
    }
}
