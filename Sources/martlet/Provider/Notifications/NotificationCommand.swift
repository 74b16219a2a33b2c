import ArgumentParser
import Foundation
import NIOCore
import ProviderModel
import PushSupport

/// `martlet notification`: previews, follows, stops and finds notifications.
struct NotificationCommand: AsyncParsableCommand {
    static let configuration = command("notification")
        .help("The notifications of a provider: preview, follow, stop and find them.")
        .detail("'martlet send' sends one.")
        .example("notification watch 9e1c…")
        .subcommands([
            ListResources<ProviderNotification>.self, ShowResource<ProviderNotification>.self,
            NotificationPreviewCommand.self, NotificationWatchCommand.self, NotificationResendCommand.self,
            PerformAction<Pause>.self, PerformAction<Resume>.self, PerformAction<Cancel>.self, Deliveries.self,
            Find.self, Receipts.self, ReceiptExportCommand.self,
        ])

    /// `martlet notification pause`: stops a notification until it is resumed.
    enum Pause: ProviderNotification.Action {
        static let configuration = command("pause")
            .help("Pause a notification: what is under way is sent, and 'resume' continues from there.")
            .example("notification pause 9e1c…")
    }

    /// `martlet notification resume`: resumes a paused notification.
    enum Resume: ProviderNotification.Action {
        static let configuration = command("resume", "Continue where it was paused.")
            .example("notification resume 9e1c…")
    }

    /// `martlet notification cancel`: stops a notification permanently.
    enum Cancel: ProviderNotification.Action {
        static let configuration = command("cancel", "Stop a notification for good; what was sent stays sent.")
            .example("notification cancel 9e1c…")
    }

    /// `martlet notification deliveries`: lists the deliveries of a notification.
    struct Deliveries: PagedListCommand {
        static let configuration = command("deliveries", "List the states of its recipients.")
            .example("notification deliveries 9e1c… --state rejected")
        static let columns = HistoryText.deliveries

        var access: ResourceOptions<ProviderNotification> { self.resource }
        @OptionGroup var resource: ResourceOptions<ProviderNotification>
        @OptionGroup var shown: LimitOption
        @Option(help: "sending, accepted, rejected, failed, skipped or unknown.") var state: String?
        @Option(help: "Only those with exactly this reason, such as Unregistered.") var reason: String?

        func request() -> APIRequest {
            self.resource.request(.get, "deliveries").query([("state", self.state), ("reason", self.reason)])
        }
    }

    /// `martlet notification receipts`: lists the receipts of a notification.
    struct Receipts: PagedListCommand {
        static let configuration = command("receipts", "List what apps and the gateway report of it.")
            .detail("'notification show' counts them, and 'notification export-receipts' writes them to a file.")
            .example("notification receipts 9e1c… --limit 20")
        static let columns: TextTable = [
            .init("device", "deviceId"), "event", "action", "source", .time("at", "atMs"),
            .time("received", "receivedAtMs"),
        ]

        var access: ResourceOptions<ProviderNotification> { self.resource }
        @OptionGroup var resource: ResourceOptions<ProviderNotification>
        @OptionGroup var shown: LimitOption

        func request() -> APIRequest { self.resource.request(.get, "receipts") }
    }

    /// `martlet notification find`: shows the delivery that was sent with an `apns-id`.
    struct Find: RequestCommand {
        static let configuration = command("find", "Show the delivery that was sent under an apns-id.")
            .example("notification find 3f1c…")

        @OptionGroup var access: ProviderOptions
        @Argument(help: "The apns-id.") var apnsID: String

        func request() -> APIRequest { .get("deliveries", self.apnsID) }

        func text(of response: JSONValue) -> String {
            (HistoryText.deliveries + [.init("device", "deviceId")]).details(of: response)
        }
    }
}

enum ProviderNotification: ProviderResource, ListableResource, ShowableResource {
    typealias ListAccess = OptionalAppOptions

    struct Filter: ListFilter {
        @OptionGroup var shown: LimitOption
        @Option(help: "\(Schema.choice(of: NotificationRecord.State.self).words).") var state: String?
        @Option(help: "Only those with this name.") var name: String?
        @Option(help: "Only those with this text in their name.") var nameContains: String?
        @Option(help: "Only those sent by the API key or person with this id.") var key: String?
        @Option(help: "urgent (single and urgent notifications) or bulk (campaigns).") var lane: String?
        @Option(help: "Only the runs of this schedule.") var schedule: String?
        @Option(help: "Accepted from this time on, as 2026-11-25T09:30:00Z.") var from: String?
        @Option(help: "Accepted before this time.") var to: String?
        @Option(help: "\(Schema.choice(of: NotificationSort.self).words).") var sort: String?

        var query: [(String, String?)] {
            [
                ("state", self.state), ("name", self.name), ("nameContains", self.nameContains), ("key", self.key),
                ("lane", self.lane), ("schedule", self.schedule), ("from", self.from), ("to", self.to),
                ("sort", self.sort),
            ]
        }
        var maximum: Int? { self.shown.limit }
    }

    /// An action on a notification.
    protocol Action: ResourceAction where Kind == ProviderNotification {}

    static let path = "notifications"
    static let id = ArgumentHelp("The notification's id.")
    static let columns: TextTable = [
        "id", "app", "name", "state", "recipients", .init("accepted", "counters.accepted"),
        .init("rejected", "counters.rejected"), .init("failed", "counters.failed"),
        .init("skipped", "counters.skipped"), .init("unknown", "counters.unknown"),
        .init("retrying", "counters.retrying"), .time("created", "createdAtMs"),
    ]
    static let list = command("list", "List notifications, newest first or in another order.")
        .example("notification list --app com.example.MyApp --state sending")
    static let show = command("show", "Show a notification and its progress.").example("notification show 9e1c…")
    private static let allColumns: TextTable = [
        "id", "app", "name", "state", .init("paused because", "pauseReason"), .init("sent by", "key.name"),
        .init("key", "key.id"), .init("resend of", "resendOf"), "to", "environment", "topic",
        .init("push type", "pushType"), "priority", "expiration", .init("expires in", "expiresIn"),
        .init("collapse id", "collapseId"), .init("payload", "content.payload"),
        .init("localizations", "content.localizations"), .init("badge increment", "content.badgeIncrement"), "lane",
        "guarantee", "when",
        "pace", "receipts", "recipients", .init("accepted", "counters.accepted"),
        .init("rejected", "counters.rejected"),
        .init("failed", "counters.failed"), .init("skipped", "counters.skipped"),
        .init("unknown", "counters.unknown"), .init("retrying", "counters.retrying"),
        .init("per second", "ratePerSecond"),
        .time("next", "nextAtMs"), .init("waiting for", "waitingFor"), .init("seconds left", "secondsLeft"),
        .time("finishes (estimate)", "finishesAtMs"), .init("sent in this wave", "wave.sent"),
        .init("schedule", "schedule.id"),
        .time("created", "createdAtMs"), .time("starts", "startsAtMs"), .time("started", "startedAtMs"),
        .time("finished", "finishedAtMs"),
    ]

    static func details(_ response: JSONValue) -> String {
        let lines = SkippedText.lines(response) + ReceiptText.lines(response) + EnvironmentStateText.lines(response)
        return ([self.allColumns.details(of: response)] + lines).joined(separator: "\n")
    }
}

extension ProviderNotification.Action {
    static func text(of response: JSONValue) -> String {
        "\(NotificationProgressText.of(response))\(response.underWay)"
    }
}

/// `martlet notification resend`: sends a notification again to the recipients that did not receive it.
struct NotificationResendCommand: ResourceCommand {
    static let configuration = command("resend", "Send a notification again, to exactly the recipients that failed.")
        .detail(
            "Prints the id of the new notification. The same command prints the same id again: to try once more, resend"
        )
        .detail("the new one. Recipients whose token is at fault are left out unless --reason names theirs.")
        .example("notification resend 9e1c… --expires-in 6h")

    @OptionGroup var resource: ResourceOptions<ProviderNotification>
    @Option(
        help: """
            \(ResendRequest.object["states"].words); repeat it for several. Unknown: it was sent, but the \
            response was lost. Default: rejected and failed.
            """
    ) var state: [String] = []
    @Option(help: "Only those with this reason; repeat it for several.") var reason: [String] = []
    @Option(help: "How long it is worth delivering, such as 6h; default: as for the first notification.")
    var expiresIn: String?
    @Option(help: "A name by which to find the notification; default: that of the first.") var name: String?
    @Option(help: "A key that sends the same notification only once when repeated; default: one made from the request.")
    var idempotencyKey: String?

    func request() -> APIRequest {
        let request = self.resource.request(.post).action("resend").body([
            "states": .texts(self.state), "reasons": .texts(self.reason), "expiresIn": self.expiresIn?.json,
            "name": self.name?.json,
        ])
        return self.idempotencyKey.map { request.idempotencyKey($0) } ?? request
    }

    func text(of response: JSONValue) -> String { response["id"].stringValue ?? "" }
}

/// `martlet notification watch`: shows the progress of a notification until it has finished.
struct NotificationWatchCommand: AsyncParsableCommand {
    static let configuration = command("watch", "Follow a notification until it is done or cancelled.")
        .detail(
            """
            On a terminal it is a bar with rate and time left, elsewhere a line whenever something has changed, with \
            --json the whole response.
            """
        )
        .detail("The status is 0 if every push was accepted, 1 if not, 3 if nobody was reached.")
        .example("notification watch 9e1c…")

    @OptionGroup var resource: ResourceOptions<ProviderNotification>
    @Option(help: "Seconds between two requests.") var interval: Double = 1

    func validate() throws {
        guard (0.1...3600).contains(self.interval) else { throw ValidationError("--interval is 0.1 to 3600 seconds.") }
    }

    func run() async throws {
        let connection = try await self.resource.connection()
        let status = StatusLine()
        // A bar on standard error and lines of output on the same terminal would overwrite each other.
        let hasBar = !self.resource.json && status.isShown && isatty(STDOUT_FILENO) == 1
        var last: String?
        while true {
            let response = try await connection.send(self.resource.request(.get))
            let text = self.resource.json ? try response.line : NotificationProgressText.of(response)
            if hasBar && !response.hasEnded {
                status.show(text)
            } else if text != last {
                if hasBar { status.clear() }
                guard StandardOutput.line(text) else { throw ExitCode.failure }
            }
            last = text
            if response.hasEnded {
                if response.exitStatus == .done { return }
                throw ExitCode(response.exitStatus.rawValue)
            }
            try await Task.sleep(for: .seconds(self.interval))
        }
    }
}

/// `martlet notification export-receipts`: writes the receipts of a notification to a file.
struct ReceiptExportCommand: AsyncParsableCommand {
    static let configuration = command("export-receipts", "Write all receipts of a notification, one per line.")
        .example("notification export-receipts 9e1c… --output receipts.csv")

    @OptionGroup var resource: ResourceOptions<ProviderNotification>
    @Option(help: "ndjson or csv. Default: by the ending of --output, else ndjson.") var format: DeviceFileFormat?
    @Option(help: "The file; an existing one is not overwritten. Default: standard output.") var output: String?

    func run() async throws {
        let connection = try await self.resource.connection()
        let format = self.format ?? self.output.flatMap(DeviceFileFormat.init(fileName:)) ?? .ndjson
        let request = self.resource.request(.get, "receipts").action("export").query([("format", format.rawValue)])
        let body = try await connection.client.stream(connection.absolute(request))
        var file = FileHandle.standardOutput
        if let output {
            // Only its owner can read the file, because it shows people's actions.
            try OutputFile.write(Data(), to: output, isSecret: true)
            file = try FileHandle(forWritingTo: URL(filePath: output))
        }
        for try await bytes in body { try file.write(contentsOf: Data(bytes.readableBytesView)) }
        if self.output != nil { try file.close() }
    }
}
