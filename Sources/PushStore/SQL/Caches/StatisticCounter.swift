import ProviderModel
import PushTypes
import Synchronization

/// Counts the final states that a transaction writes, for the charts.
final class StatisticCounter {
    struct Counts: Sendable {
        /// The numbers of accepted, rejected, failed, skipped, unknown and opened deliveries, in this order.
        var outcomes = [Int64](repeating: 0, count: 6)
        var latency = [Int64](repeating: 0, count: LatencyHistogram.count)
        var reasons: [Reason: Int64] = [:]

        mutating func add(_ deliveries: [DeliveryResult]) {
            for delivery in deliveries {
                guard let place = delivery.state.place else { continue }
                self.outcomes[place] += 1
                if let trip = delivery.trip, trip.connection >= 0 {
                    self.latency[LatencyHistogram.bucket(of: trip.milliseconds)] += 1
                }
                guard delivery.state != .accepted, let reason = delivery.reason else { continue }
                self.reasons[Reason(state: delivery.state.rawValue, text: BytewiseString(reason)), default: 0] += 1
            }
        }

        mutating func add(_ other: Counts) {
            for (index, count) in other.outcomes.enumerated() { self.outcomes[index] += count }
            for (index, count) in other.latency.enumerated() { self.latency[index] += count }
            self.reasons.merge(other.reasons, uniquingKeysWith: +)
        }

        var negated: Counts {
            Counts(outcomes: self.outcomes.map(-), latency: self.latency.map(-), reasons: self.reasons.mapValues(-))
        }
    }

    struct Reason: Hashable, Sendable {
        var state: Int64
        var text: BytewiseString
    }

    /// The names of the columns for ``Counts/outcomes``, in the same order.
    static let outcomes = ["accepted", "rejected", "failed", "skipped", "unknown", "opened"]
    static let latency = (0..<LatencyHistogram.count).map { "latency\($0)" }
    static let columns = StatisticCounter.outcomes + StatisticCounter.latency

    private(set) var apps: [Int64: Counts] = [:]

    func add(_ deliveries: [DeliveryResult], of app: Int64) {
        guard !deliveries.isEmpty else { return }
        // In place, because copying the counts for a page of one recipient would cost more than counting it.
        self.apps[app, default: Counts()].add(deliveries)
    }

    func addOpened(_ count: Int64, of app: Int64) { self.apps[app, default: Counts()].outcomes[5] += count }

    private static let addition = """
        ON CONFLICT (app, at, step) DO UPDATE
        SET \(StatisticCounter.columns.map { "\($0) = statistic.\($0) + excluded.\($0)" }.joined(separator: ", "))
        """

    /// Adds counts to the stored counts of a minute. Counts of apps that no longer exist are dropped.
    static func write(_ apps: [Int64: Counts], minute: Int64, _ reasons: ReasonLookup, in database: any SQLConnection)
        throws
    {
        for (app, counts) in apps where counts.outcomes.contains(where: { $0 != 0 }) {
            guard try database.hasRow(sql: "SELECT 1 FROM app WHERE id = ?", [app]) else { continue }
            let key: ColumnValues = ["app": app, "at": minute, "step": StatisticStep.minute.seconds]
            var columns = key
            for (name, number) in zip(Self.columns, counts.outcomes + counts.latency) { columns += [name: number] }
            try database.insert(into: "statistic", columns, Self.addition)
            for (reason, count) in counts.reasons {
                let id = try reasons.id(of: DeliveryReason(reason.text.text), in: database)
                var columns = key
                columns += ["state": reason.state, "reason": id, "count": count]
                let addition = """
                    ON CONFLICT (app, at, step, state, reason) DO UPDATE
                    SET count = statisticReason.count + excluded.count
                    """
                try database.insert(into: "statisticReason", columns, addition)
            }
        }
    }
}

extension DeliveryRecord.State {
    /// The index of a final state in ``StatisticCounter/Counts/outcomes``, or `nil` for ``sending``.
    var place: Int? { self == .sending ? nil : Int(self.rawValue) - 1 }
}

/// The counts that have not been written to the tables of charts yet.
///
/// They are written once a second and before charts are read (``SQLStore/writeStatistics()``), because writing them
/// with each push would cost as much as its delivery. If the process is killed, up to a second of chart counts is lost.
/// The ledger loses nothing.
final class PendingStatistics: Sendable {
    /// The counts by minute, in seconds since 1970, and by the id of the app.
    typealias Numbers = [Int64: [Int64: StatisticCounter.Counts]]

    private struct State {
        var numbers: Numbers = [:]
        /// The number of transactions in progress that have taken counts.
        var underWay = 0
    }

    private let state = Mutex(State())

    /// A Boolean value that indicates whether some counts have yet to be written to disk.
    var needsWrite: Bool { self.state.withLock { $0.underWay > 0 || !$0.numbers.isEmpty } }

    /// Adds the counts of a transaction just before its commit, so that they can be written right after it.
    func add(_ apps: [Int64: StatisticCounter.Counts], now: Timestamp) {
        guard !apps.isEmpty else { return }
        self.add([StatisticStep.minute.start(of: now).seconds: apps])
    }

    /// Reverts the counts of a transaction that failed. The next write subtracts those written meanwhile.
    func remove(_ apps: [Int64: StatisticCounter.Counts], now: Timestamp) {
        self.add(apps.mapValues(\.negated), now: now)
    }

    /// Returns and removes all counts. The transaction that writes them ends with ``written(_:)`` or ``restore(_:)``.
    func take() -> Numbers {
        self.state.withLock { state in
            if !state.numbers.isEmpty { state.underWay += 1 }
            defer { state.numbers = [:] }
            return state.numbers
        }
    }

    /// Records that the taken counts are on disk.
    func written(_ numbers: Numbers) {
        guard !numbers.isEmpty else { return }
        self.state.withLock { $0.underWay -= 1 }
    }

    /// Adds the taken counts to the pending ones again, because they could not be written.
    func restore(_ numbers: Numbers) {
        self.add(numbers)
        self.written(numbers)
    }

    private func add(_ other: Numbers) {
        self.state.withLock { state in
            for (minute, apps) in other {
                state.numbers[minute, default: [:]].merge(apps) { earlier, later in
                    var sum = earlier
                    sum.add(later)
                    return sum
                }
            }
        }
    }
}
