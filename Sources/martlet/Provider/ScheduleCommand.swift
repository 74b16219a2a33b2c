import ArgumentParser
import PushSupport

struct ScheduleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "Notifications that are sent again and again.",
        discussion: "Example: martlet schedule list --app com.example.MyApp",
        subcommands: [
            List.self, Show.self, ScheduleAddCommand.self, ScheduleSetCommand.self, SchedulePauseCommand.self,
            ScheduleResumeCommand.self, Remove.self, Runs.self, SchedulePreviewCommand.self,
        ]
    )

    static let columns: [TextTable.Column] = [
        .init("id", "id"), .init("name", "name"), .init("cron", "schedule.cron"),
        .init("time zone", "schedule.timeZone"), .init("paused", "paused"), .init("next run", "nextRunAtMs", .time),
        .init("last run", "lastRunAtMs", .time),
    ]

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List them.",
            discussion: "Example: martlet schedule list --app com.example.MyApp"
        )

        @OptionGroup var access: AppAccess
        @OptionGroup var shown: LimitOption

        func run() async throws {
            try await self.access.list(
                "schedules",
                ["schedules"],
                query: [],
                limit: self.shown.limit,
                ScheduleCommand.columns
            )
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show one, with what it sends.",
            discussion: "Example: martlet schedule show 7d6f…"
        )

        @OptionGroup var provider: ProviderAccess
        @OptionGroup var schedule: ScheduleArgument

        func run() async throws {
            try await self.provider.show(APIRequest(.get, ["schedules", self.schedule.id])) { answer in
                let rest: [TextTable.Column] = [.init("rule", "schedule"), .init("sends", "notification")]
                return TextTable.details(ScheduleCommand.columns + rest, answer)
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Forget one; what it has sent goes on.",
            discussion: "Example: martlet schedule remove 7d6f…"
        )

        @OptionGroup var provider: ProviderAccess
        @OptionGroup var schedule: ScheduleArgument

        func run() async throws {
            try await self.provider.show(APIRequest(.delete, ["schedules", self.schedule.id])) { _ in
                "the schedule is removed"
            }
        }
    }

    struct Runs: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show its next runs.",
            discussion: "Example: martlet schedule runs 7d6f… --count 3"
        )

        @OptionGroup var provider: ProviderAccess
        @OptionGroup var schedule: ScheduleArgument

        @Option(help: "How many, up to 100.")
        var count: Int = 10

        func run() async throws {
            let query = [("count", Optional("\(self.count)"))]
            let request = APIRequest(.get, ["schedules", self.schedule.id, "runs"], query: query)
            try await self.provider.show(request, RunsText.of)
        }
    }
}

/// A schedule as an argument.
struct ScheduleArgument: ParsableArguments {
    @Argument(help: "The schedule's id.")
    var id: String
}

/// Moments, a line each.
enum RunsText {
    static func of(_ answer: JSONValue) -> String {
        let runs = answer["runs"].elements.map { CellText.of($0, .time) }
        return runs.isEmpty ? "(none)" : runs.joined(separator: "\n")
    }
}
