import ArgumentParser
import PushSupport

/// When a schedule runs.
struct ScheduleRule: ParsableArguments {
    @Option(help: "Minute, hour, day, month and weekday, such as '0 9 * * mon-fri'.")
    var cron: String

    @Option(help: "Such as Europe/Berlin.")
    var timeZone: String

    @Option(help: "skip, runOnce or runAll: what happens to runs that were missed while the provider was down.")
    var missedRuns: String?

    @Option(help: "Not before this moment, as 2026-12-01T00:00:00Z.")
    var from: String?

    @Option(help: "Not after this moment.")
    var until: String?

    /// The member `schedule` of the request.
    var json: JSONValue {
        let members: [String: JSONValue?] = [
            "cron": .string(self.cron), "timeZone": .string(self.timeZone),
            "missedRuns": self.missedRuns.map(JSONValue.string), "from": self.from.map(JSONValue.string),
            "until": self.until.map(JSONValue.string),
        ]
        return .object(members.compactMapValues { $0 })
    }
}

/// A whole schedule.
struct ScheduleForm: ParsableArguments {
    @OptionGroup var rule: ScheduleRule

    @Option(help: "How lists call it.")
    var name: String

    @Argument(help: "A file with what it sends, as for 'martlet notification send'; '-' is standard input.")
    var file: String

    /// The members of the request.
    var members: [String: JSONValue?] {
        get throws {
            [
                "name": .string(self.name), "schedule": self.rule.json,
                "notification": .object(try RequestFile.object(self.file)),
            ]
        }
    }
}
