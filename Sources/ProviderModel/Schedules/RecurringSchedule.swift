package import Foundation
package import PushSupport
package import PushTypes

/// A recurring schedule: a cron expression in a time zone, bounds, and a policy for missed runs.
///
/// A run is identified by its time. The caller derives the id of the notification from the schedule's id and that time,
/// so that a run is never sent twice. Only the next run is kept between calls.
package struct RecurringSchedule: Hashable, Sendable {
    package var cron: CronExpression
    package var timeZone: TimeZone
    package var missedRuns = MissedRuns.runOnce(maximumLateness: RecurringSchedule.standardLateness)
    /// The time before which there is no run, or `nil` for no bound.
    package var from: Timestamp?
    /// The time from which on there are no more runs, or `nil` for no bound.
    package var until: Timestamp?

    /// Returns the first run later than `timestamp` and within the bounds, or `nil` if there is none.
    package func nextRun(after timestamp: Timestamp) -> Timestamp? {
        let start = self.from.map { max(timestamp, $0.advanced(by: .milliseconds(-1))) } ?? timestamp
        guard let run = self.cron.next(after: start, in: self.timeZone) else { return nil }
        if let until, run >= until { return nil }
        return run
    }
}

/// The due runs, including those that are made up for after a downtime.
extension RecurringSchedule {
    /// The policy for missed runs, whose time was more than ``tolerance`` ago when the provider could create them.
    package enum MissedRuns: Hashable, Sendable {
        /// The policy to make up for no missed run.
        case skip
        /// The policy to make up for the latest due run only, if it is late by less than `maximumLateness`.
        case runOnce(maximumLateness: Duration)
        /// The policy to make up for the latest due runs, at most `maximum` of them, oldest first.
        case runAll(maximum: Int)
    }

    package struct Due: Hashable, Sendable {
        /// The due runs, oldest first.
        package var runs: [Timestamp]
        /// The next run, to be kept for the next call, or `nil` when the schedule has ended.
        package var next: Timestamp?
    }

    /// The maximum lateness of a run that is not regarded as missed. ``MissedRuns`` decides about later ones.
    package static let tolerance: Duration = .seconds(60)
    /// The default maximum lateness of ``MissedRuns/runOnce(maximumLateness:)``: an hour.
    package static let standardLateness: Duration = .seconds(3600)
    /// The default number of missed runs that are made up for by ``MissedRuns/runAll(maximum:)``.
    package static let standardRuns = 10
    package static let maximumRuns = 100

    /// The maximum time before now in which missed runs are searched: about a hundred years.
    private static let longestLookBack: Duration = .seconds(100 * 366 * 86_400)

    /// Returns the runs that are due at `now`. Setting the clock back keeps the next run, so that nothing runs twice.
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

    /// Returns the last `count` runs from `first` to `now`, both included. It looks back from `now` in growing steps,
    /// so that a long downtime does not cost a search over every minute of it.
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

extension RecurringSchedule: StoredJSON {
    private enum Members {
        static let cron = Member.text(
            "cron",
            1...CronExpression.maximumLength,
            pattern: "^[ \\t]*(@[A-Za-z]+|[^ \\t]+([ \\t]+[^ \\t]+){4})[ \\t]*$"
        )
        static let timeZone = Member.timeZone("timeZone")
        static let missedRuns = Member.text("missedRuns", maximum: 32, as: .choice(["skip", "runOnce", "runAll"]))
        static let maximumLateness = Member.integer("maximumLatenessSeconds", 60...31 * 86_400)
        static let maximumRuns = Member.integer("maximumRuns", 1...Int64(RecurringSchedule.maximumRuns))
        static let (from, until) = (Member.time("from"), Member.time("until"))
    }

    package static let object = RequestObject(
        required: [Members.cron, Members.timeZone],
        optional: [Members.missedRuns, Members.maximumLateness, Members.maximumRuns, Members.from, Members.until]
    ) {
        $0.example(.texts(["cron": "0 9 * * mon-fri", "timeZone": "Europe/Berlin", "missedRuns": "skip"]))
            .named("ScheduleRule")
    }

    /// The member `schedule` of a request, such as `{"cron":"0 9 * *
    /// mon-fri","timeZone":"Europe/Berlin","missedRuns":"skip"}`.
    package static let member = Member.object("schedule", Self.object)

    /// Reads the member `schedule` of a request, or returns `nil` if it is absent.
    /// - Parameter now: The current time. A schedule without a run after it is rejected.
    package static func parse(in fields: JSONFields, now: Timestamp) throws(RequestError) -> RecurringSchedule? {
        guard let fields = try fields.value(Self.member) else { return nil }
        let schedule = try RecurringSchedule(fields)
        guard schedule.nextRun(after: now) != nil
        else { throw fields.error("cron", "never_runs", "there is no run between now, from and until") }
        return schedule
    }

    package init(_ fields: JSONFields) throws(RequestError) {
        let text = try fields.required(Members.cron)
        let cron: CronExpression
        do throws(CronError) {
            cron = try CronExpression(text)
        } catch {
            throw fields.error("cron", "invalid_cron", error.description)
        }
        let timeZone = try fields.required(Members.timeZone, "name the time zone, such as Europe/Berlin")
        let (from, until) = (try fields.value(Members.from), try fields.value(Members.until))
        if let from, let until, until <= from {
            throw fields.error("until", "invalid_value", "it must be later than from")
        }
        self.init(cron: cron, timeZone: timeZone, missedRuns: try Self.missedRuns(fields), from: from, until: until)
    }

    private static func missedRuns(_ fields: JSONFields) throws(RequestError) -> MissedRuns {
        let policy = try fields.value(Members.missedRuns) ?? "runOnce"
        let (lateness, runs) = (try fields.value(Members.maximumLateness), try fields.value(Members.maximumRuns))
        if lateness != nil, policy != "runOnce" {
            throw fields.error("maximumLatenessSeconds", "conflicting_field", "it belongs to missedRuns runOnce")
        }
        if runs != nil, policy != "runAll" {
            throw fields.error("maximumRuns", "conflicting_field", "it belongs to missedRuns runAll")
        }
        switch policy {
        case "skip": return .skip
        case "runOnce": return .runOnce(maximumLateness: lateness.map { .seconds($0) } ?? Self.standardLateness)
        case "runAll": return .runAll(maximum: runs.map(Int.init) ?? Self.standardRuns)
        default: throw fields.error("missedRuns", "invalid_value", "use skip, runOnce or runAll")
        }
    }

    package var json: JSONValue {
        var members: [String: JSONValue] = [
            "cron": .string(self.cron.text), "timeZone": .string(self.timeZone.identifier),
        ]
        switch self.missedRuns {
        case .skip: members["missedRuns"] = .string("skip")
        case .runOnce(let lateness):
            members["missedRuns"] = .string("runOnce")
            members["maximumLatenessSeconds"] = .integer(lateness.components.seconds)
        case .runAll(let maximum):
            members["missedRuns"] = .string("runAll")
            members["maximumRuns"] = .integer(Int64(maximum))
        }
        members["from"] = self.from.map { .string($0.rfc3339) }
        members["until"] = self.until.map { .string($0.rfc3339) }
        return .object(members)
    }
}
