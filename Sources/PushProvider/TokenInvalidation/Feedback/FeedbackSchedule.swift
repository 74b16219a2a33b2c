package import PushSupport
import PushTypes

/// Determines the times at which a feedback service is read.
package struct FeedbackSchedule: Hashable, Sendable {
    /// The time from the start of one reading to the next. Default 1 h.
    package var interval: Duration = .seconds(3600)
    /// The back-off after a failed reading. Default up to 1 min after the first failure, doubling to 1 h.
    package var backoff = Backoff(base: .seconds(60), maximum: .seconds(3600))
    /// The maximum duration of a reading, after which it has failed. Tuples that were read are applied. Default 10 min.
    package var deadline: Duration = .seconds(600)

    package init() {}

    /// Returns the time of the next reading if the process crashes during the one that began at `start`.
    func next(afterCrashOf start: Timestamp) -> Timestamp { start.advanced(by: self.deadline) }

    /// Returns the time of the next reading after one that has ended.
    /// - Parameters:
    ///   - start: The beginning of the reading that has ended.
    ///   - failures: The number of consecutive failures, or 0 after a success.
    func next(
        after start: Timestamp,
        endedAt end: Timestamp,
        failures: Int,
        using generator: inout some RandomNumberGenerator
    ) -> Timestamp {
        guard failures > 0 else { return max(end, start.advanced(by: self.interval)) }
        // The delay is at least half of the limit, so that a service that is down is not queried again immediately.
        let limit = self.backoff.limit(afterFailures: failures)
        return end.advanced(by: limit / 2 + limit / 2 * Double.random(in: 0...1, using: &generator))
    }
}
