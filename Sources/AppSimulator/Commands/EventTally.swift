import PushSupport
import Synchronization

/// Counts events for commands that wait for them. An event counts for one wait only.
package final class EventTally: Sendable {
    private struct State {
        /// The events that no wait has counted yet.
        var counts: [SimulatorEvent.Name: Int] = [:]
        /// The wait that is not over; commands wait one after the other.
        var waiting: (name: SimulatorEvent.Name, count: Int, end: CheckedContinuation<Bool, Never>)?

        /// Takes events for a wait, if there are enough.
        mutating func take(_ count: Int, _ name: SimulatorEvent.Name) -> Bool {
            guard let present = self.counts[name], present >= count else { return false }
            self.counts[name] = present - count
            return true
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Counts an event, which may end the wait.
    package func record(_ event: SimulatorEvent) {
        let end = self.state.withLock { state -> CheckedContinuation<Bool, Never>? in
            state.counts[event.name, default: 0] += event.count
            guard let waiting = state.waiting, state.take(waiting.count, waiting.name) else { return nil }
            state.waiting = nil
            return waiting.end
        }
        end?.resume(returning: true)
    }

    /// The events of a name that no wait has counted.
    package func count(of name: SimulatorEvent.Name) -> Int { self.state.withLock { $0.counts[name] ?? 0 } }

    /// Waits until there are so many events, which are taken.
    /// - Returns: `false` if the task was cancelled first.
    package func wait(for count: Int, _ name: SimulatorEvent.Name) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result = self.state.withLock { state -> Bool? in
                    if state.take(count, name) { return true }
                    // A handler that ran before this would find nothing to end.
                    guard !Task.isCancelled, state.waiting == nil else { return false }
                    state.waiting = (name, count, continuation)
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let end = self.state.withLock { state -> CheckedContinuation<Bool, Never>? in
                defer { state.waiting = nil }
                return state.waiting?.end
            }
            end?.resume(returning: false)
        }
    }
}
