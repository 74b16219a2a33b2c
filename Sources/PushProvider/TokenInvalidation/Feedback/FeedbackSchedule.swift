package import PushSupport
import PushTypes

/// The times at which a feedback service is read.
package struct FeedbackSchedule: Hashable, Sendable {
    /// The time from one reading to the next. Default 1 h.
    package var interval: Duration = .seconds(3600)
    /// The time after a failure. Default up to 1 min after the first, doubling to 1 h.
    package var backoff = Backoff(base: .seconds(60), maximum: .seconds(3600))
    /// The longest time of a reading. Default 10 min.
    package var deadline: Duration = .seconds(600)

    package init() {}

    /// Returns the time of the reading after one that a crash ends.
    func next(afterCrashOf start: Timestamp) -> Timestamp { start.advanced(by: self.deadline) }

    /// Returns the time of the reading after one that has ended.
    /// - Parameters:
    ///   - start: The beginning of the reading that has ended.
    ///   - failures: The failures in a row; 0 after a success.
    func next(
        after start: Timestamp,
        endedAt end: Timestamp,
        failures: Int,
        using generator: inout some RandomNumberGenerator
    ) -> Timestamp {
        guard failures > 0 else { return max(end, start.advanced(by: self.interval)) }
        // At least half of the limit: a service that is down is not asked twice at once.
        let limit = self.backoff.limit(afterFailures: failures)
        return end.advanced(by: limit / 2 + limit / 2 * Double.random(in: 0...1, using: &generator))
    }
}
