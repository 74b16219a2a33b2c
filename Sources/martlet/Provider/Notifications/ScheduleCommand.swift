import ArgumentParser
import ProviderModel
import PushSupport

/// `martlet schedule`: manages recurring notifications.
struct ScheduleCommand: AsyncParsableCommand {
    static let configuration = command("schedule", "Recurring notifications.")
        .example("schedule list --app com.example.MyApp")
        .subcommands([
            ListResources<Schedule>.self, ShowResource<Schedule>.self, Add.self, Change.self, PerformAction<Pause>.self,
            PerformAction<Resume>.self, RemoveResource<Schedule>.self, Runs.self, Preview.self,
            ScheduleCalendarCommand.self,
        ])

    enum Schedule: ProviderResource, ListableResource, ShowableResource, RemovableResource {
        typealias ListAccess = AppOptions
        typealias Filter = LimitOption

        static let path = "schedules"
        static let id = ArgumentHelp("The schedule's id.")
        static let columns: TextTable = [
            "id", "name", .init("cron", "schedule.cron"), .init("time zone", "schedule.timeZone"), "paused",
            .time("next run", "nextRunAtMs"), .time("last run", "lastRunAtMs"),
        ]
        static let list = command("list", "List the schedules of an app.")
            .example("schedule list --app com.example.MyApp")
        static let show = command("show", "Show a schedule, with what it sends.").example("schedule show 7d6f…")
        static let remove = command("remove", "Remove a schedule; notifications of earlier runs continue.")
            .example("schedule remove 7d6f…")

        static func details(_ response: JSONValue) -> String {
            (self.columns + [.init("problem", "problem"), .init("rule", "schedule"), .init("sends", "notification")])
                .details(of: response)
        }

        static func removed(_ id: String) -> String { "the schedule is removed" }

        /// Returns the message about a schedule that was added or replaced, and prints the response's warnings to
        /// standard error.
        static func changed(_ response: JSONValue) -> String {
            PreviewText.warn(response)
            return self.columns.details(of: response)
        }
    }

    /// `martlet schedule add`: adds a schedule.
    struct Add: RequestCommand {
        static let configuration = command("add", "Add a schedule.")
            .example(
                """
                schedule add digest.json --name digest --cron '0 9 * * mon-fri' --time-zone Europe/Berlin \
                --missed-runs skip --app com.example.MyApp
                """
            )

        @OptionGroup var access: AppOptions
        @OptionGroup var schedule: ScheduleOptions

        func request() throws -> APIRequest { .post(Schedule.path).body(try self.schedule.members()) }

        func text(of response: JSONValue) -> String { Schedule.changed(response) }
    }

    /// `martlet schedule set`: replaces a schedule.
    struct Change: ResourceCommand {
        static let configuration = command("set", "Replace a schedule: its name, when it runs and what it sends.")
            .example("schedule set 7d6f… digest.json --name digest --cron '0 8 * * *' --time-zone Europe/Berlin")

        @OptionGroup var resource: ResourceOptions<Schedule>
        @OptionGroup var schedule: ScheduleOptions

        func request() throws -> APIRequest { self.resource.request(.put).body(try self.schedule.members()) }

        func text(of response: JSONValue) -> String { Schedule.changed(response) }
    }

    protocol Action: ResourceAction where Kind == Schedule {}

    /// `martlet schedule pause`: suspends the runs of a schedule.
    enum Pause: Action {
        static let configuration = command("pause", "Suspend all runs until it is resumed.")
            .example("schedule pause 7d6f…")

        static func text(of response: JSONValue) -> String { "paused" }
    }

    /// `martlet schedule resume`: resumes the runs of a schedule.
    enum Resume: Action {
        static let configuration = command("resume")
            .help("Continue with the next run; runs that were missed while it was paused are not made up for.")
            .example("schedule resume 7d6f…")

        static func text(of response: JSONValue) -> String { "next run: \(response["nextRunAtMs"].timeText)" }
    }

    /// `martlet schedule runs`: shows the times of the next runs of a schedule.
    struct Runs: ResourceCommand {
        static let configuration = command("runs", "Show the next runs of a schedule.")
            .example("schedule runs 7d6f… --count 3")

        @OptionGroup var resource: ResourceOptions<Schedule>
        @OptionGroup var shown: RunsOption

        func request() -> APIRequest { self.resource.request(.get, "runs").query(self.shown.query) }

        func text(of response: JSONValue) -> String { self.shown.text(of: response) }
    }

    /// `martlet schedule preview`: shows when a schedule would run, without adding it.
    struct Preview: RequestCommand {
        static let configuration = command("preview", "Show when a schedule would run.")
            .example("schedule preview --cron '0 9 * * 1' --time-zone Asia/Tokyo --app com.example.MyApp")

        @OptionGroup var access: AppOptions
        @OptionGroup var rule: ScheduleRule
        @OptionGroup var shown: RunsOption

        func request() -> APIRequest {
            .post(Schedule.path).action("preview").query(self.shown.query).body(["schedule": self.rule.json])
        }

        func text(of response: JSONValue) -> String { self.shown.text(of: response) }
    }
}

/// `martlet schedule calendar`: shows the runs of all schedules of an app.
struct ScheduleCalendarCommand: RequestCommand {
    static let configuration = command("calendar", "Show the runs of all schedules of an app, a month from now on.")
        .example("schedule calendar --app com.example.MyApp --to 2026-12-24T00:00:00Z")

    @OptionGroup var access: AppOptions
    @Option(help: "From this time on, as 2026-11-25T09:30:00Z.") var from: String?
    @Option(help: "Before this time.") var to: String?

    func request() -> APIRequest {
        .get(ScheduleCommand.Schedule.path).action("calendar").query([("from", self.from), ("to", self.to)])
    }

    func text(of response: JSONValue) -> String {
        let columns: TextTable = [.time("at", "atMs"), "name", "paused", .init("id", "schedule")]
        let runs = response["runs"].elements
        guard !runs.isEmpty else { return "(none)" }
        let more = response["complete"] == .bool(false) ? "\n(and more)" : ""
        return columns.text(of: runs) + more
    }
}

/// The options for the times at which a schedule runs.
struct ScheduleRule: ParsableArguments {
    @Option(help: "Minute, hour, day, month and weekday, such as '0 9 * * mon-fri'.") var cron: String
    @Option(help: "The time zone, such as Europe/Berlin.") var timeZone: String
    @Option(
        help: """
            \(ScheduleRequest.object["schedule.missedRuns"].words): what to do about runs that were missed while the \
            provider was down.
            """
    )
    var missedRuns: String?
    @Option(help: "No run before this time, as 2026-12-01T00:00:00Z.") var from: String?
    @Option(help: "No run after this time.") var until: String?

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

    func members() throws -> [String: JSONValue?] {
        ["name": self.name.json, "schedule": self.rule.json, "notification": .object(try InputFile.object(self.file))]
    }
}

/// The option for the number of runs to show.
struct RunsOption: ParsableArguments {
    @Option(help: "The number of runs, up to 100.") var count: Int = 10

    var query: [(String, String?)] { [("count", "\(self.count)")] }

    /// Returns the times of the runs in a response, one per line, or `(none)`.
    func text(of response: JSONValue) -> String {
        let runs = response["runs"].elements.map(\.timeText)
        return runs.isEmpty ? "(none)" : runs.joined(separator: "\n")
    }
}
