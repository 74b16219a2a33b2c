import ArgumentParser
import PushSupport

/// `martlet schedule`: manages recurring notifications.
struct ScheduleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "schedule",
        "Recurring notifications.",
        example: "schedule list --app com.example.MyApp",
        subcommands: [
            List.self, ShowResource<Schedule>.self, Add.self, Set.self, PerformAction<Pause>.self,
            PerformAction<Resume>.self, RemoveResource<Schedule>.self, Runs.self, Preview.self,
        ]
    )

    /// The schedules of a provider.
    enum Schedule: ShownResource, RemovedResource {
        typealias Access = ProviderOptions

        static let path = ["schedules"]
        static let id = ArgumentHelp("The schedule's id.")
        static let columns: [TextTable.Column] = [
            .init("id", "id"), .init("name", "name"), .init("cron", "schedule.cron"),
            .init("time zone", "schedule.timeZone"), .init("paused", "paused"),
            .init("next run", "nextRunAtMs", .time), .init("last run", "lastRunAtMs", .time),
        ]
        static let show = CommandConfiguration("show", "Show a schedule, with what it sends.")
            .example("schedule show 7d6f…")
        static let remove = CommandConfiguration("remove", "Remove a schedule; notifications of earlier runs continue.")
            .example("schedule remove 7d6f…")

        static func details(_ response: JSONValue) -> String {
            let rest: [TextTable.Column] = [.init("rule", "schedule"), .init("sends", "notification")]
            return TextTable.details(self.columns + rest, response)
        }

        static func removed(_ id: String) -> String { "the schedule is removed" }
    }

    /// `martlet schedule list`: lists the schedules of an app.
    struct List: PagedListCommand {
        static let configuration = CommandConfiguration("list", "List the schedules of an app.")
            .example("schedule list --app com.example.MyApp")
        static let member = "schedules"
        static let columns = Schedule.columns

        @OptionGroup var access: AppOptions
        @OptionGroup var shown: LimitOption

        var request: APIRequest { APIRequest(.get, Schedule.path) }
    }

    /// `martlet schedule add`: adds a schedule.
    struct Add: RequestCommand {
        static let configuration = CommandConfiguration("add", "Add a schedule.")
            .example(
                """
                schedule add digest.json --name digest --cron '0 9 * * mon-fri' --time-zone Europe/Berlin \
                --missed-runs skip --app com.example.MyApp
                """
            )

        @OptionGroup var access: AppOptions
        @OptionGroup var schedule: ScheduleOptions

        var request: APIRequest {
            get throws { APIRequest(.post, Schedule.path, body: try self.schedule.members) }
        }

        func text(of response: JSONValue) -> String { TextTable.details(Schedule.columns, response) }
    }

    /// `martlet schedule set`: replaces a schedule.
    struct Set: RequestCommand {
        static let configuration = CommandConfiguration(
            "set",
            "Replace a schedule: its name, when it runs and what it sends.",
            example: """
                schedule set digest.json --id 7d6f… --name digest --cron '0 8 * * *' --time-zone Europe/Berlin
                """
        )

        @OptionGroup var access: ProviderOptions
        @OptionGroup var schedule: ScheduleOptions
        @Option(help: "The schedule's id.") var id: String

        var request: APIRequest {
            get throws { APIRequest(.put, Schedule.path + [self.id], body: try self.schedule.members) }
        }

        func text(of response: JSONValue) -> String { TextTable.details(Schedule.columns, response) }
    }

    /// `martlet schedule pause`: suspends the runs of a schedule.
    enum Pause: ResourceAction {
        typealias Kind = Schedule

        static let configuration = CommandConfiguration("pause", "Suspend all runs until it is resumed.")
            .example("schedule pause 7d6f…")

        static func text(of response: JSONValue) -> String { "paused" }
    }

    /// `martlet schedule resume`: resumes the runs of a schedule.
    enum Resume: ResourceAction {
        typealias Kind = Schedule

        static let configuration = CommandConfiguration(
            "resume",
            "Continue with the next run; runs that were missed while it was paused are not made up for.",
            example: "schedule resume 7d6f…"
        )

        static func text(of response: JSONValue) -> String {
            "next run: \(CellText.of(response["nextRunAtMs"], .time))"
        }
    }

    /// `martlet schedule runs`: shows the next runs of a schedule.
    struct Runs: RequestCommand {
        static let configuration = CommandConfiguration("runs", "Show the next runs of a schedule.")
            .example("schedule runs 7d6f… --count 3")

        @OptionGroup var access: ProviderOptions
        @OptionGroup var schedule: ResourceID<Schedule>
        @OptionGroup var shown: RunsOption

        var request: APIRequest { self.schedule.request(.get, ["runs"], query: self.shown.query) }

        func text(of response: JSONValue) -> String { self.shown.text(of: response) }
    }

    /// `martlet schedule preview`: shows when a schedule would run.
    struct Preview: RequestCommand {
        static let configuration = CommandConfiguration("preview", "Show when a schedule would run.")
            .example("schedule preview --cron '0 9 * * 1' --time-zone Asia/Tokyo --app com.example.MyApp")

        @OptionGroup var access: AppOptions
        @OptionGroup var rule: ScheduleRule
        @OptionGroup var shown: RunsOption

        var request: APIRequest {
            let body = ["schedule": Optional(self.rule.json)]
            return APIRequest(.post, Schedule.path, action: "preview", query: self.shown.query, body: body)
        }

        func text(of response: JSONValue) -> String { self.shown.text(of: response) }
    }
}
