import NIOCore
import PushTypes
import Synchronization

/// The pushes of one call, and their outcomes as they become known.
final class SendBatch: Sendable {
    private struct State {
        var outcomes: [Outcome?]
        var trips: [PushTrip]
        var connections: [OpenedConnection] = []
        var missing: Int
        var waiter: CheckedContinuation<SentPushes, Never>?
        var recalled: Set<Int> = []
        /// The positions of recalled pushes that were taken back, because no connection had accepted them.
        var takenBack: Set<Int> = []

        mutating func index(of connection: OpenedConnection) -> Int32 {
            if let index = self.connections.firstIndex(where: { $0 == connection }) { return Int32(clamping: index) }
            self.connections.append(connection)
            return Int32(clamping: self.connections.count - 1)
        }
    }

    let pushes: [Push]
    /// A closure that receives each outcome immediately, so that no outcomes are kept, or `nil` to keep the outcomes
    /// for ``sent``.
    private let observer: (@Sendable ([SendResult]) -> Void)?
    /// The pool in which the pushes wait, or `nil` if they cannot be taken back.
    private let pool: ConnectionPool?
    let metrics: SenderMetrics
    private let beganAt = NIODeadline.now()
    private let state: Mutex<State>

    init(
        _ pushes: [Push],
        in pool: ConnectionPool? = nil,
        metrics: SenderMetrics,
        observer: (@Sendable ([SendResult]) -> Void)? = nil
    ) {
        (self.pushes, self.pool, self.metrics, self.observer) = (pushes, pool, metrics, observer)
        let kept = observer == nil ? pushes.count : 0
        let state = State(
            outcomes: Array(repeating: nil, count: kept),
            trips: Array(repeating: PushTrip(), count: kept),
            missing: pushes.count
        )
        self.state = Mutex(state)
    }

    /// Records the outcomes of pushes that had none yet. The last outcome resumes the caller.
    /// - Parameter connection: The connection that carried the pushes, or `nil` if there was none.
    func finish(_ results: some Collection<SendResult>, over connection: OpenedConnection? = nil) {
        self.metrics.count(results)
        // The observer is called before the count, whose completion ends the stream of results.
        self.observer?(Array(results))
        let completed = self.state.withLock { state in
            if self.observer == nil {
                let milliseconds = (NIODeadline.now() - self.beganAt).nanoseconds / 1_000_000
                let trip = PushTrip(
                    connection: connection.map { state.index(of: $0) } ?? -1,
                    milliseconds: Int32(clamping: milliseconds)
                )
                for result in results {
                    state.outcomes[result.index] = result.outcome
                    state.trips[result.index] = trip
                }
            }
            state.missing -= results.count
            return state.missing == 0
        }
        if completed { self.resume() }
    }

    /// The outcomes in the order of the pushes, with their transmissions, once all are known. They are empty for a
    /// batch with an observer. Only one caller may wait for them.
    var sent: SentPushes {
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
        let (waiter, outcomes, trips, connections) = self.state.withLock { state in
            let waiter = state.waiter
            state.waiter = nil
            guard waiter != nil else { return (waiter, [Outcome?](), [PushTrip](), [OpenedConnection]()) }
            defer { (state.outcomes, state.trips) = ([], []) }
            return (waiter, state.outcomes, state.trips, state.connections)
        }
        let sent = SentPushes(outcomes: outcomes.compactMap { $0 }, trips: trips, connections: connections)
        waiter?.resume(returning: sent)
    }
}

extension SendBatch: PushCall {
    func takeBack(where isRecalled: (Int) -> Bool) -> Int {
        let indices = Set(self.pushes.indices.filter(isRecalled))
        self.state.withLock { $0.recalled.formUnion(indices) }
        self.pool?.takeBack(indices, of: self)
        return self.state.withLock { indices.subtracting($0.takenBack).count }
    }

    func isRecalled(_ index: Int) -> Bool { self.state.withLock { $0.recalled.contains(index) } }

    func endTakenBack(_ index: Int) {
        _ = self.state.withLock { $0.takenBack.insert(index) }
        self.finish(CollectionOfOne(SendResult(index: index, outcome: .notSent(.takenBack))))
    }
}

/// The outcome of one push of a call, with the position of the push.
public struct SendResult: Hashable, Sendable {
    /// The position of the push in the array that was passed to the call.
    public var index: Int
    public var outcome: Outcome
}

/// A collector of the outcomes of several pushes, so that each batch receives all of its outcomes in one call.
struct ResultCollector {
    private var results: [SendResult]
    private var batch: SendBatch?
    private let connection: OpenedConnection?

    /// Creates a collector.
    /// - Parameters:
    ///   - memory: An empty array whose memory is reused until ``finish()`` returns it.
    ///   - connection: The connection that carried the pushes, or `nil` if there was none.
    init(_ memory: inout [SendResult], over connection: OpenedConnection?) {
        (self.results, self.connection) = ([], connection)
        swap(&self.results, &memory)
    }

    mutating func add(_ ticket: PushTicket, _ outcome: Outcome) {
        if self.batch !== ticket.batch {
            self.deliver()
            self.batch = ticket.batch
        }
        self.results.append(SendResult(index: ticket.index, outcome: outcome))
    }

    /// Delivers the last outcomes.
    /// - Returns: An empty array, whose memory can be reused.
    mutating func finish() -> [SendResult] {
        self.deliver()
        return self.results
    }

    private mutating func deliver() {
        guard let batch else { return }
        self.batch = nil
        batch.finish(self.results, over: self.connection)
        self.results.removeAll(keepingCapacity: true)
    }
}
