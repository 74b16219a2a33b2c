import GRDB
import PushTypes

/// Counts what one transaction writes, for charts.
final class StatisticCounter {
    /// The numbers of an app.
    struct Counts: Sendable {
        /// Of accepted, rejected, failed, skipped and unknown recipients, and of opened notifications.
        var outcomes = [Int64](repeating: 0, count: 6)
        var latency = [Int64](repeating: 0, count: LatencyHistogram.count)
        var reasons: [Reason: Int64] = [:]

        mutating func add(_ deliveries: [DeliveryResult]) {
            for delivery in deliveries {
                guard let index = StatisticCounter.index(of: delivery.state) else { continue }
                self.outcomes[index] += 1
                if let trip = delivery.trip, trip.connection >= 0 {
                    self.latency[LatencyHistogram.bucket(of: trip.milliseconds)] += 1
                }
                guard delivery.state != .accepted, let reason = delivery.reason else { continue }
                self.reasons[Reason(state: delivery.state.rawValue, text: ExactText(reason)), default: 0] += 1
            }
        }

        mutating func add(_ other: Counts) {
            for (index, count) in other.outcomes.enumerated() { self.outcomes[index] += count }
            for (index, count) in other.latency.enumerated() { self.latency[index] += count }
            self.reasons.merge(other.reasons, uniquingKeysWith: +)
        }

        /// The numbers to add in order to take these back.
        var negated: Counts {
            Counts(outcomes: self.outcomes.map(-), latency: self.latency.map(-), reasons: self.reasons.mapValues(-))
        }
    }

    struct Reason: Hashable, Sendable {
        var state: Int64
        var text: ExactText
    }

    /// The columns in the order of the numbers.
    static let outcomes = ["accepted", "rejected", "failed", "skipped", "unknown", "opened"]
    static let latency = (0..<LatencyHistogram.count).map { "latency\($0)" }
    static let columns = StatisticCounter.outcomes + StatisticCounter.latency

    /// The numbers by app.
    private(set) var apps: [Int64: Counts] = [:]

    /// Counts the final states of a page.
    func add(_ deliveries: [DeliveryResult], of app: Int64) {
        guard !deliveries.isEmpty else { return }
        // In place: a copy of the numbers for each page of one recipient would cost more than counting it.
        self.apps[app, default: Counts()].add(deliveries)
    }

    /// Counts installations that have opened a notification.
    func addOpened(_ count: Int64, of app: Int64) { self.apps[app, default: Counts()].outcomes[5] += count }

    fileprivate static func index(of state: DeliveryRecord.State) -> Int? {
        switch state {
        case .accepted: 0
        case .rejected: 1
        case .failed: 2
        case .skipped: 3
        case .unknown: 4
        case .sending: nil
        }
    }

    private static let upsert = """
        INSERT INTO statistic (app, at, step, \(StatisticCounter.columns.joined(separator: ", ")))
        VALUES (?, ?, 60, \(StatisticCounter.columns.map { _ in "?" }.joined(separator: ", ")))
        ON CONFLICT (app, at, step) DO UPDATE
        SET \(StatisticCounter.columns.map { "\($0) = \($0) + excluded.\($0)" }.joined(separator: ", "))
        """

    /// Adds numbers to those of a minute. Those of an app that is gone are left out.
    static func write(
        _ apps: [Int64: Counts],
        minute: Int64,
        _ reasons: ReasonLookup,
        in database: Database
    ) throws {
        for (app, counts) in apps where counts.outcomes.contains(where: { $0 != 0 }) {
            guard try database.hasRow(sql: "SELECT 1 FROM app WHERE id = ?", [app]) else { continue }
            let statement = try RawStatement(sql: Self.upsert, in: database)
            statement.bind(app, minute)
            for (index, number) in (counts.outcomes + counts.latency).enumerated() {
                statement.bind(number, at: Int32(index) + 3)
            }
            try statement.run()
            for (reason, count) in counts.reasons {
                let sql = """
                    INSERT INTO statisticReason (app, at, step, state, reason, count) VALUES (?, ?, 60, ?, ?, ?)
                    ON CONFLICT DO UPDATE SET count = count + excluded.count
                    """
                let id = try reasons.id(of: reason.text.text, in: database)
                try database.run(sql: sql, app, minute, reason.state, id, count)
            }
        }
    }
}
