package import PushTypes

/// The length of an interval of a chart.
package enum StatisticStep: String, Hashable, Sendable, CaseIterable {
    case minute, hour, day

    package var seconds: Int64 {
        switch self {
        case .minute: 60
        case .hour: 3600
        case .day: 86_400
        }
    }

    /// The longer step to which counters are added after their ``retention``, or `nil` for the longest step.
    package var next: StatisticStep? {
        switch self {
        case .minute: .hour
        case .hour: .day
        case .day: nil
        }
    }

    /// The time for which counters are kept in this step: two days, 90 days, three years.
    package var retention: Duration {
        switch self {
        case .minute: .seconds(2 * 86_400)
        case .hour: .seconds(90 * 86_400)
        case .day: .seconds(3 * 366 * 86_400)
        }
    }

    /// Returns the beginning of the interval that a time is in.
    package func start(of time: Timestamp) -> Timestamp {
        let seconds = time.seconds
        let rest = seconds % self.seconds
        return Timestamp(seconds: seconds - (rest < 0 ? rest + self.seconds : rest))
    }
}

/// The numbers of pushes in one interval, by outcome, and of openings.
package struct StatisticPoint: Hashable, Sendable {
    /// The beginning of the interval.
    package var at: Timestamp
    package var accepted = 0, rejected = 0, failed = 0, skipped = 0, unknown = 0
    /// The number of installations that opened a notification, counted once per notification.
    package var opened = 0
    /// The numbers of pushes by the time until their response (``LatencyHistogram/bounds``).
    package var latency = LatencyHistogram()

    package init(at: Timestamp) { self.at = at }
}

/// A histogram of the times from the sending of a page of recipients to the responses to its pushes.
package struct LatencyHistogram: Hashable, Sendable {
    /// The upper bounds of the buckets, in milliseconds. The last bucket has none.
    package static let bounds: [Int32] = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000]
    package static let count = Self.bounds.count + 1

    package var buckets = [Int](repeating: 0, count: LatencyHistogram.count)

    package init() {}

    /// Returns the index of the bucket that counts a time.
    package static func bucket(of milliseconds: Int32) -> Int {
        Self.bounds.firstIndex { milliseconds <= $0 } ?? Self.bounds.count
    }
}

/// The number of recipients that share a state and a reason.
package struct ReasonCount: Hashable, Sendable {
    package var state: DeliveryRecord.State
    package var reason: String
    package var count: Int

    package init(state: DeliveryRecord.State, reason: String, count: Int) {
        (self.state, self.reason, self.count) = (state, reason, count)
    }
}
