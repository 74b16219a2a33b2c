import Foundation
package import PushSupport
package import PushTypes

extension RecurringSchedule: StoredJSON {
    package static let members: Set<String> = [
        "cron", "timeZone", "missedRuns", "maximumLatenessSeconds", "maximumRuns", "from", "until",
    ]

    /// Reads the object `name` of a request, such as
    /// `{"cron":"0 9 * * mon-fri","timeZone":"Europe/Berlin","missedRuns":"skip"}`; `nil` if it is not there.
    /// - Parameter now: The current time. A schedule without a run after it is rejected.
    package static func parse(
        _ name: String,
        in fields: JSONFields,
        now: Timestamp
    ) throws(RequestError) -> RecurringSchedule? {
        guard let fields = try fields.fields(name, known: Self.members) else { return nil }
        let schedule = try RecurringSchedule(fields)
        guard schedule.nextRun(after: now) != nil
        else { throw fields.error("cron", "never_runs", "there is no run between now, from and until") }
        return schedule
    }

    package init(_ fields: JSONFields) throws(RequestError) {
        let text = try fields.requiredString("cron", maximum: CronExpression.maximumLength)
        let cron: CronExpression
        do throws(CronError) {
            cron = try CronExpression(text)
        } catch {
            throw fields.error("cron", "invalid_cron", error.description)
        }
        guard let timeZone = try fields.timeZone("timeZone")
        else { throw fields.error("timeZone", "missing_field", "name the time zone, such as Europe/Berlin") }
        let (from, until) = (try fields.timestamp("from"), try fields.timestamp("until"))
        if let from, let until, until <= from {
            throw fields.error("until", "invalid_value", "it must be later than from")
        }
        self.init(cron: cron, timeZone: timeZone, missedRuns: try Self.missedRuns(fields), from: from, until: until)
    }

    private static func missedRuns(_ fields: JSONFields) throws(RequestError) -> MissedRuns {
        let policy = try fields.string("missedRuns", maximum: 32) ?? "runOnce"
        let lateness = try fields.integer("maximumLatenessSeconds", in: 60...31 * 86_400)
        let runs = try fields.integer("maximumRuns", in: 1...Int64(Self.maximumRuns))
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
