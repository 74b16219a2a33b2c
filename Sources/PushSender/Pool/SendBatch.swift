import PushTypes
import Synchronization

/// The pushes of one call, and their outcomes as they become known.
final class SendBatch: Sendable {
    private struct State {
        var outcomes: [Outcome?]
        var missing: Int
        var waiter: CheckedContinuation<[Outcome], Never>?
    }

    let pushes: [Push]
    /// Receives each outcome at once. With an observer no outcomes are kept.
    private let observer: (@Sendable ([SendResult]) -> Void)?
    let metrics: SenderMetrics
    private let state: Mutex<State>

    init(_ pushes: [Push], metrics: SenderMetrics, observer: (@Sendable ([SendResult]) -> Void)? = nil) {
        (self.pushes, self.metrics, self.observer) = (pushes, metrics, observer)
        let kept = observer == nil ? pushes.count : 0
        self.state = Mutex(State(outcomes: Array(repeating: nil, count: kept), missing: pushes.count))
    }

    /// Records outcomes of pushes that had none yet. The last one resumes the caller.
    func finish(_ results: some Collection<SendResult>) {
        self.metrics.count(results)
        // Before the count, whose completion ends the stream of results.
        self.observer?(Array(results))
        let completed = self.state.withLock { state in
            if self.observer == nil {
                for result in results { state.outcomes[result.index] = result.outcome }
            }
            state.missing -= results.count
            return state.missing == 0
        }
        if completed { self.resume() }
    }

    /// The outcomes in the order of the pushes, once all are known. They are empty for a batch with an observer. Only
    /// one caller may wait for them.
    var outcomes: [Outcome] {
        get async {
            await withCheckedContinuation { waiter in
                let isComplete = self.state.withLock { state in
                    state.waiter = waiter
                    return state.missing == 0
                }
                if isComplete { self.resume() }
            }
        }
    }

    private func resume() {
        let (waiter, outcomes) = self.state.withLock { state in
            defer { state.waiter = nil }
            guard state.waiter != nil else { return (state.waiter, [Outcome?]()) }
            defer { state.outcomes = [] }
            return (state.waiter, state.outcomes)
        }
        waiter?.resume(returning: outcomes.compactMap { $0 })
    }
}

/// The outcome of one push of a call.
public struct SendResult: Hashable, Sendable {
    /// The position of the push in the call's array.
    public var index: Int
    public var outcome: Outcome
}
