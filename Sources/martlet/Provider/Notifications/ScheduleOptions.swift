import ArgumentParser
import PushSupport

/// The options for the runs of a schedule.
struct ScheduleRule: ParsableArguments {
    @Option(help: "Minute, hour, day, month and weekday, such as '0 9 * * mon-fri'.") var cron: String
    @Option(help: "The time zone, such as Europe/Berlin.") var timeZone: String
    @Option(help: "skip, runOnce or runAll: what to do about runs that were missed while the provider was down.")
    var missedRuns: String?
    @Option(help: "No run before this time, as 2026-12-01T00:00:00Z.") var from: String?
    @Option(help: "No run after this time.") var until: String?

    /// The member `schedule` of the request.
    var json: JSONValue {
        .members([
            "cron": self.cron.json, "timeZone": self.timeZone.json, "missedRuns": self.missedRuns?.json,
            "from": self.from?.json, "until": self.until?.json,
        ])
    }
}

/// The options that describe a whole schedule.
struct ScheduleOptions: ParsableArguments {
    @OptionGroup var rule: ScheduleRule
    @Option(help: "The name in lists.") var name: String
    @Argument(help: "A file with what it sends, as for 'martlet send FILE'; '-' is standard input.")
    var file: String

    /// The members of the request.
    func members() throws -> [String: JSONValue?] {
        [
            "name": self.name.json, "schedule": self.rule.json,
            "notification": .object(try InputFile.object(self.file)),
        ]
    }
}

/// The option that bounds a list of runs.
struct RunsOption: ParsableArguments {
    @Option(help: "The number of runs, up to 100.") var count: Int = 10

    /// The items of the query.
    var query: [(String, String?)] { [("count", "\(self.count)")] }

    /// Returns the times of runs, a line each.
    func text(of response: JSONValue) -> String {
        let runs = response["runs"].elements.map(\.timeText)
        return runs.isEmpty ? "(none)" : runs.joined(separator: "\n")
    }
}
