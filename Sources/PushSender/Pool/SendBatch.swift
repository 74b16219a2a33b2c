import Synchronization

/// The pushes of one call, and their outcomes as they become known.
final class SendBatch: Sendable {
    private struct State {
        var outcomes: [Outcome?]
        var missing: Int
        var waiter: CheckedContinuation<[Outcome], Never>?
    }

    let pushes: [Push]
    /// Hears of every outcome at once; then none are kept.
    private let observer: (@Sendable ([SendResult]) -> Void)?
    private let metrics: SenderMetrics
    private let state: Mutex<State>

    init(_ pushes: [Push], metrics: SenderMetrics, observer: (@Sendable ([SendResult]) -> Void)? = nil) {
        self.pushes = pushes
        self.metrics = metrics
        self.observer = observer
        let kept = observer == nil ? pushes.count : 0
        self.state = Mutex(State(outcomes: Array(repeating: nil, count: kept), missing: pushes.count))
    }

    /// Notes outcomes of pushes that had none yet. The last one wakes who waits.
    func finish(_ results: some Collection<SendResult>) {
        self.metrics.count(results)
        // Before the count: whoever completes it ends the stream of results.
        self.observer?(Array(results))
        let completed = self.state.withLock { state in
            if self.observer == nil {
                for result in results { state.outcomes[result.index] = result.outcome }
            }
            state.missing -= results.count
            return state.missing == 0
        }
        if completed { self.wake() }
    }

    /// The outcomes in the order of the pushes; empty for a batch with an observer. For one caller.
    var outcomes: [Outcome] {
        get async {
            await withCheckedContinuation { waiter in
                let isComplete = self.state.withLock { state in
                    state.waiter = waiter
                    return state.missing == 0
                }
                if isComplete { self.wake() }
            }
        }
    }

    private func wake() {
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
    /// Position of the push in the call's array.
    public var index: Int
    public var outcome: Outcome
}
