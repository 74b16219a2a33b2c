package import PushTypes

/// The runs that are due, and those of them that are made up for after a downtime.
extension RecurringSchedule {
    /// The policy for runs whose time passed more than ``tolerance`` ago.
    package enum MissedRuns: Hashable, Sendable {
        /// Missed runs are left out.
        case skip
        /// Only the latest due run is made up for, if it is less than this late.
        case runOnce(maximumLateness: Duration)
        /// The latest due runs are made up for, up to this number, oldest first.
        case runAll(maximum: Int)
    }

    /// The runs that are due.
    package struct Due: Hashable, Sendable {
        /// The due runs, oldest first.
        package var runs: [Timestamp]
        /// The next run, to be kept for the next call; `nil` when the schedule has ended.
        package var next: Timestamp?
    }

    /// The lateness of a run that is still on time: the scheduler may have slept.
    package static let tolerance: Duration = .seconds(60)
    /// The default maximum lateness of ``MissedRuns/runOnce(maximumLateness:)``: an hour.
    package static let standardLateness: Duration = .seconds(3600)
    /// The number of missed runs that are made up for, by default and at most.
    package static let standardRuns = 10
    package static let maximumRuns = 100

    /// The maximum time over which missed runs are looked for: some hundred years.
    private static let longestLookBack: Duration = .seconds(100 * 366 * 86_400)

    /// Returns the runs that are due at `now`. A clock that is set back makes nothing run twice: the next run stays.
    /// - Parameter nextRun: The next run that the last call returned, or ``nextRun(after:)`` at the start.
    package func due(nextRun: Timestamp, now: Timestamp) -> Due {
        guard nextRun <= now else { return Due(runs: [], next: nextRun) }
        return Due(runs: self.runs(from: nextRun, now: now), next: self.nextRun(after: now))
    }

    private func runs(from first: Timestamp, now: Timestamp) -> [Timestamp] {
        let onTime = now.advanced(by: .zero - Self.tolerance)
        switch self.missedRuns {
        case .skip: return self.latestRuns(Self.maximumRuns, from: max(first, onTime), now: now)
        case .runOnce(let lateness):
            return self.latestRuns(1, from: first, now: now)
                .filter { $0 >= onTime || now.since($0) < lateness }
        case .runAll(let maximum): return self.latestRuns(maximum, from: first, now: now)
        }
    }

    /// Returns the last `count` runs from `first` to `now`, both included. It looks back from `now` in growing steps, so that a
    /// long downtime does not cost a search over every minute of it.
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
