import ArgumentParser

struct NotificationListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List notifications, newest first.",
        discussion: "Example: martlet notification list --app com.example.MyApp --state sending"
    )

    @OptionGroup var access: AppAccess
    @OptionGroup var shown: LimitOption

    @Option(help: "scheduled, accepted, sending, paused, cancelled or done.")
    var state: String?

    func run() async throws {
        let settings = try await self.access.provider.settings(["api.app": self.access.app])
        let app = settings.string("api.app")
        try await self.access.provider.list(
            "notifications",
            (app.map { ["apps", $0] } ?? []) + ["notifications"],
            query: [("state", self.state)],
            limit: self.shown.limit,
            with: settings,
            [
                .init("id", "id"), .init("app", "app"), .init("state", "state"), .init("recipients", "recipients"),
                .init("accepted", "counters.accepted"), .init("rejected", "counters.rejected"),
                .init("failed", "counters.failed"), .init("skipped", "counters.skipped"),
                .init("retrying", "counters.retrying"), .init("created", "createdAtMs", .time),
            ]
        )
    }
}

struct NotificationShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a notification and its progress.",
        discussion: "Example: martlet notification show 9e1c…"
    )

    static let columns: [TextTable.Column] = [
        .init("id", "id"), .init("app", "app"), .init("state", "state"), .init("paused because", "pauseReason"),
        .init("to", "to"), .init("environment", "environment"), .init("topic", "topic"), .init("push type", "pushType"),
        .init("priority", "priority"), .init("collapse id", "collapseId"), .init("lane", "lane"),
        .init("guarantee", "guarantee"), .init("when", "when"), .init("pace", "pace"),
        .init("recipients", "recipients"), .init("accepted", "counters.accepted"),
        .init("rejected", "counters.rejected"), .init("failed", "counters.failed"),
        .init("skipped", "counters.skipped"), .init("retrying", "counters.retrying"),
        .init("per second", "ratePerSecond"),
        .init("seconds left", "secondsLeft"), .init("sent in this wave", "wave.sent"), .init("schedule", "schedule.id"),
        .init("created", "createdAtMs", .time), .init("starts", "startsAtMs", .time),
        .init("started", "startedAtMs", .time), .init("finished", "finishedAtMs", .time),
    ]

    @OptionGroup var provider: ProviderAccess
    @OptionGroup var notification: NotificationArgument

    func run() async throws {
        try await self.provider.show(APIRequest(.get, ["notifications", self.notification.id])) {
            TextTable.details(Self.columns, $0)
        }
    }
}
