import ArgumentParser
import PushSupport

struct ScheduleAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a schedule.",
        discussion: """
            Example: martlet schedule add digest.json --name digest --cron '0 9 * * mon-fri' \
            --time-zone Europe/Berlin --missed-runs skip --app com.example.MyApp
            """
    )

    @OptionGroup var access: AppAccess
    @OptionGroup var form: ScheduleForm

    func run() async throws {
        try await self.access.show(.post, ["schedules"], body: try self.form.members) {
            TextTable.details(ScheduleCommand.columns, $0)
        }
    }
}

struct ScheduleSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Replace a schedule: its name, when it runs and what it sends.",
        discussion: """
            Example: martlet schedule set digest.json --id 7d6f… --name digest --cron '0 8 * * *' \
            --time-zone Europe/Berlin
            """
    )

    @OptionGroup var provider: ProviderAccess
    @OptionGroup var form: ScheduleForm

    @Option(help: "The schedule's id.")
    var id: String

    func run() async throws {
        try await self.provider.show(APIRequest(.put, ["schedules", self.id], body: try self.form.members)) {
            TextTable.details(ScheduleCommand.columns, $0)
        }
    }
}

struct SchedulePreviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Show when a schedule would run.",
        discussion:
            "Example: martlet schedule preview --cron '0 9 * * 1' --time-zone Asia/Tokyo --app com.example.MyApp"
    )

    @OptionGroup var access: AppAccess
    @OptionGroup var rule: ScheduleRule

    @Option(help: "How many runs, up to 100.")
    var count: Int = 10

    func run() async throws {
        let query = [("count", Optional("\(self.count)"))]
        let body: [String: JSONValue?] = ["schedule": self.rule.json]
        try await self.access.show(.post, ["schedules"], action: "preview", query: query, body: body, RunsText.of)
    }
}

struct SchedulePauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "No run until it is resumed.",
        discussion: "Example: martlet schedule pause 7d6f…"
    )

    @OptionGroup var provider: ProviderAccess
    @OptionGroup var schedule: ScheduleArgument

    func run() async throws {
        try await self.provider.show(APIRequest(.post, ["schedules", self.schedule.id], action: "pause")) { _ in
            "paused"
        }
    }
}

struct ScheduleResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Go on with the next run; what was missed while paused is not made up for.",
        discussion: "Example: martlet schedule resume 7d6f…"
    )

    @OptionGroup var provider: ProviderAccess
    @OptionGroup var schedule: ScheduleArgument

    func run() async throws {
        try await self.provider.show(APIRequest(.post, ["schedules", self.schedule.id], action: "resume")) {
            "next run: \(CellText.of($0["nextRunAtMs"], .time))"
        }
    }
}
