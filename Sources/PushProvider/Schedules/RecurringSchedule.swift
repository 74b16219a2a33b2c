package import Foundation
package import PushTypes

/// A schedule that makes a notification again and again: a cron expression in a time zone, bounds, and what happens to
/// runs that were missed while nothing ran.
///
/// A run is named by its own moment, so the caller makes the notification's id from the schedule's id and that moment:
/// asking twice never sends twice. All that is kept between calls is the next run.
package struct RecurringSchedule: Hashable, Sendable {
    /// What happens to runs whose moment passed more than ``tolerance`` ago.
    package enum MissedRuns: Hashable, Sendable {
        /// They are left out.
        case skip
        /// Of everything due only the latest runs, if it is less than this late.
        case runOnce(maximumLateness: Duration)
        /// The latest so many of everything due run, oldest first.
        case runAll(maximum: Int)
    }

    /// What is to be run now.
    package struct Due: Hashable, Sendable {
        /// Oldest first.
        package var runs: [Timestamp]
        /// To be kept for the next call; `nil` when the schedule has come to its end.
        package var next: Timestamp?
    }

    /// A run this late is on time: the dispatcher may have slept.
    package static let tolerance: Duration = .seconds(60)
    /// Default: a run of an hour ago is not repeated.
    package static let standardLateness: Duration = .seconds(3600)
    /// Runs made up for at once, by default and at most.
    package static let standardRuns = 10
    package static let maximumRuns = 100

    /// Missed runs are not looked for further back than this: some hundred years.
    private static let longestLookBack: Duration = .seconds(100 * 366 * 86_400)

    package var cron: CronExpression
    package var timeZone: TimeZone
    package var missedRuns: MissedRuns
    /// No run before this moment.
    package var from: Timestamp?
    /// No run at this moment or later.
    package var until: Timestamp?

    package init(
        cron: CronExpression,
        timeZone: TimeZone,
        missedRuns: MissedRuns = .runOnce(maximumLateness: Self.standardLateness),
        from: Timestamp? = nil,
        until: Timestamp? = nil
    ) {
        self.cron = cron
        self.timeZone = timeZone
        self.missedRuns = missedRuns
        self.from = from
        self.until = until
    }

    /// The first run later than `moment` and within the bounds; `nil` when there is none any more.
    package func nextRun(after moment: Timestamp) -> Timestamp? {
        let start = self.from.map { max(moment, $0.advanced(by: .milliseconds(-1))) } ?? moment
        guard let run = self.cron.next(after: start, in: self.timeZone) else { return nil }
        if let until, run >= until { return nil }
        return run
    }

    /// What is due at `now`, where `nextRun` is what the last call gave (or ``nextRun(after:)`` at the start).
    ///
    /// A clock that went back makes nothing run twice: the next run stays where it is.
    package func due(nextRun: Timestamp, now: Timestamp) -> Due {
        guard nextRun <= now else { return Due(runs: [], next: nextRun) }
        return Due(runs: self.runs(from: nextRun, now: now), next: self.nextRun(after: now))
    }

    private func runs(from first: Timestamp, now: Timestamp) -> [Timestamp] {
        let onTime = now.advanced(by: .zero - Self.tolerance)
        switch self.missedRuns {
        case .skip:
            return self.latestRuns(Self.maximumRuns, from: max(first, onTime), now: now)
        case .runOnce(let lateness):
            return self.latestRuns(1, from: first, now: now)
                .filter { $0 >= onTime || now.since($0) < lateness }
        case .runAll(let maximum):
            return self.latestRuns(maximum, from: first, now: now)
        }
    }

    /// The last `count` runs from `first` to `now`, both included. Looks back from `now` in growing steps, so that a long
    /// downtime does not cost a walk over every minute of it.
    private func latestRuns(_ count: Int, from first: Timestamp, now: Timestamp) -> [Timestamp] {
        var window: Duration = .seconds(3600)
        while true {
            let start = max(first, now.advanced(by: .zero - window))
            var runs: [Timestamp] = []
            var after = start.advanced(by: .milliseconds(-1))
            while let run = self.nextRun(after: after), run <= now {
                runs.append(run)
                after = run
            }
            if runs.count >= count || start <= first || window > Self.longestLookBack {
                return Array(runs.suffix(max(0, count)))
            }
            window *= 4
        }
    }
}
