import Synchronization

/// The events that no `wait` command has consumed yet. Each event can complete one wait only.
package final class EventTally: Sendable {
    private struct State {
        /// The number of events of each name that no wait has consumed yet.
        var counts: [SimulatorEvent.Name: Int] = [:]
        /// The wait in progress, or `nil` for none. There is at most one, because commands are executed in sequence.
        var waiting: (name: SimulatorEvent.Name, count: Int, end: CheckedContinuation<Bool, Never>)?

        /// Consumes `count` events of a name and returns `true`, or consumes none and returns `false` if fewer exist.
        mutating func take(_ count: Int, _ name: SimulatorEvent.Name) -> Bool {
            guard let present = self.counts[name], present >= count else { return false }
            self.counts[name] = present - count
            return true
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Counts an event, which may complete the wait in progress.
    package func record(_ event: SimulatorEvent) {
        let end = self.state.withLock { state -> CheckedContinuation<Bool, Never>? in
            state.counts[event.name, default: 0] += event.count
            guard let waiting = state.waiting, state.take(waiting.count, waiting.name) else { return nil }
            state.waiting = nil
            return waiting.end
        }
        end?.resume(returning: true)
    }

    package func count(of name: SimulatorEvent.Name) -> Int { self.state.withLock { $0.counts[name] ?? 0 } }

    /// Waits until there are `count` events of a name, and consumes them.
    /// - Returns: `true` if the events were consumed, and `false` if the task was cancelled first.
    package func wait(for count: Int, _ name: SimulatorEvent.Name) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result = self.state.withLock { state -> Bool? in
                    if state.take(count, name) { return true }
                    // A cancellation handler that has run already found no continuation to resume.
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
