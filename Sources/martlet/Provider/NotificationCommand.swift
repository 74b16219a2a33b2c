import ArgumentParser
import PushSupport

/// `martlet notification`: sends, follows and controls notifications.
struct NotificationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "notification",
        "The notifications of a provider: preview, send, follow, stop, look up.",
        """
        'martlet send' makes a notification from options; 'martlet notification send' takes the whole request, with \
        everything that docs/content.md has.
        """,
        example: "notification watch 9e1c…",
        subcommands: [
            List.self, ShowResource<ProviderNotification>.self, NotificationPreviewCommand.self,
            NotificationSendCommand.self, NotificationWatchCommand.self, PerformAction<Pause>.self,
            PerformAction<Resume>.self, PerformAction<Cancel>.self, Deliveries.self, Find.self,
        ]
    )

    /// `martlet notification list`: lists notifications.
    struct List: PagedListCommand {
        static let configuration = CommandConfiguration("list", "List notifications, newest first.")
            .example("notification list --app com.example.MyApp --state sending")
        static let member = "notifications"
        static let columns: [TextTable.Column] = [
            .init("id", "id"), .init("app", "app"), .init("state", "state"), .init("recipients", "recipients"),
            .init("accepted", "counters.accepted"), .init("rejected", "counters.rejected"),
            .init("failed", "counters.failed"), .init("skipped", "counters.skipped"),
            .init("retrying", "counters.retrying"), .init("created", "createdAtMs", .time),
        ]

        @OptionGroup var access: OptionalAppOptions
        @OptionGroup var shown: LimitOption
        @Option(help: "scheduled, accepted, sending, paused, cancelled or done.") var state: String?

        var request: APIRequest { APIRequest(.get, ProviderNotification.path, query: [("state", self.state)]) }
    }

    /// `martlet notification pause`: stops a notification after the pages in flight.
    enum Pause: ResourceAction {
        typealias Kind = ProviderNotification

        static let configuration = CommandConfiguration(
            "pause",
            "Stop a notification after the pages in flight; 'resume' continues there.",
            example: "notification pause 9e1c…"
        )
    }

    /// `martlet notification resume`: continues a paused notification.
    enum Resume: ResourceAction {
        typealias Kind = ProviderNotification

        static let configuration = CommandConfiguration("resume", "Continue where it was paused.")
            .example("notification resume 9e1c…")
    }

    /// `martlet notification cancel`: stops a notification for good.
    enum Cancel: ResourceAction {
        typealias Kind = ProviderNotification

        static let configuration = CommandConfiguration(
            "cancel",
            "Stop a notification for good; what was sent stays sent.",
            example: "notification cancel 9e1c…"
        )
    }

    /// `martlet notification deliveries`: lists the deliveries of a notification.
    struct Deliveries: PagedListCommand {
        static let configuration = CommandConfiguration("deliveries", "List the states of its recipients.")
            .example("notification deliveries 9e1c… --state rejected")
        static let member = "deliveries"
        static let columns = HistoryText.deliveries

        @OptionGroup var access: ProviderOptions
        @OptionGroup var notification: ResourceID<ProviderNotification>
        @OptionGroup var shown: LimitOption
        @Option(help: "sending, accepted, rejected or failed.") var state: String?

        var request: APIRequest { self.notification.request(.get, ["deliveries"], query: [("state", self.state)]) }
    }

    /// `martlet notification find`: shows the delivery that was sent under an apns-id.
    struct Find: RequestCommand {
        static let configuration = CommandConfiguration("find", "Show the delivery that was sent under an apns-id.")
            .example("notification find 3f1c…")

        @OptionGroup var access: ProviderOptions
        @Argument(help: "The apns-id.") var apnsID: String

        var request: APIRequest { APIRequest(.get, ["deliveries", self.apnsID]) }

        func text(of response: JSONValue) -> String {
            TextTable.details(HistoryText.deliveries + [.init("device", "deviceId")], response)
        }
    }
}

extension ResourceAction where Kind == ProviderNotification {
    static func text(of response: JSONValue) -> String { NotificationProgressText.of(response) }
}

/// The notifications of a provider.
enum ProviderNotification: ShownResource {
    typealias Access = ProviderOptions

    static let path = ["notifications"]
    static let id = ArgumentHelp("The notification's id.")
    static let show = CommandConfiguration("show", "Show a notification and its progress.")
        .example("notification show 9e1c…")
    private static let columns: [TextTable.Column] = [
        .init("id", "id"), .init("app", "app"), .init("state", "state"), .init("paused because", "pauseReason"),
        .init("to", "to"), .init("environment", "environment"), .init("topic", "topic"), .init("push type", "pushType"),
        .init("priority", "priority"), .init("collapse id", "collapseId"), .init("lane", "lane"),
        .init("guarantee", "guarantee"), .init("when", "when"), .init("pace", "pace"),
        .init("recipients", "recipients"), .init("accepted", "counters.accepted"),
        .init("rejected", "counters.rejected"), .init("failed", "counters.failed"),
        .init("skipped", "counters.skipped"), .init("retrying", "counters.retrying"),
        .init("per second", "ratePerSecond"), .init("seconds left", "secondsLeft"),
        .init("sent in this wave", "wave.sent"), .init("schedule", "schedule.id"),
        .init("created", "createdAtMs", .time), .init("starts", "startsAtMs", .time),
        .init("started", "startedAtMs", .time), .init("finished", "finishedAtMs", .time),
    ]

    static func details(_ response: JSONValue) -> String { TextTable.details(self.columns, response) }
}
