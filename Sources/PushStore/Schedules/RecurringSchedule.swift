package import Foundation
package import PushTypes

/// A recurring schedule: a cron expression in a time zone, bounds, and a policy for missed runs.
///
/// A run is identified by its time. The caller derives the id of the notification from the id of the schedule and that time,
/// so that asking twice never sends twice. Only the next run is kept between calls.
package struct RecurringSchedule: Hashable, Sendable {
    package var cron: CronExpression
    package var timeZone: TimeZone
    package var missedRuns = MissedRuns.runOnce(maximumLateness: RecurringSchedule.standardLateness)
    /// The time before which there is no run.
    package var from: Timestamp?
    /// The time from which there is no run.
    package var until: Timestamp?

    /// Returns the first run later than `timestamp` and within the bounds; `nil` if there is none.
    package func nextRun(after timestamp: Timestamp) -> Timestamp? {
        let start = self.from.map { max(timestamp, $0.advanced(by: .milliseconds(-1))) } ?? timestamp
        guard let run = self.cron.next(after: start, in: self.timeZone) else { return nil }
        if let until, run >= until { return nil }
        return run
    }
}
