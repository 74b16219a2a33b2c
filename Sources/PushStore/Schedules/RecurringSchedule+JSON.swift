import Foundation
package import PushSupport
package import PushTypes

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

    /// The member `schedule` of a request, such as
    /// `{"cron":"0 9 * * mon-fri","timeZone":"Europe/Berlin","missedRuns":"skip"}`.
    package static let member = Member.object("schedule", Self.object)

    /// Reads the member `schedule` of a request; `nil` if it is absent.
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
        guard let timeZone = try fields.value(Members.timeZone)
        else { throw fields.error("timeZone", "missing_field", "name the time zone, such as Europe/Berlin") }
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
