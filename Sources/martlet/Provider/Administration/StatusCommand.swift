import ArgumentParser
import PushSupport

/// `martlet status`: shows whether a provider is ready.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = command("status")
        .help("Show whether a provider is ready: it runs, and its store can be read and written.")
        .detail("Needs no API key. The status is 0 if it is ready, 1 if not. With a key that may read, it shows the")
        .detail("environments whose pushes are paused or failing.")
        .example("status --server http://127.0.0.1:8080")

    @OptionGroup var access: ProviderOptions

    func run() async throws {
        let client = try APISettings.client(try await self.access.settings())
        let response = try await client.send(.get(), to: "/ready")
        guard response["status"].stringValue == "ready" else { throw client.notAnAPI }
        let faults = await self.faults(client)
        try self.access.print(response) { _ in
            (["the provider at \(client.baseURL) is ready"] + faults).joined(separator: "\n")
        }
    }

    /// Returns a line for each app with paused or failing environments. Without a suitable key, returns an empty array.
    private func faults(_ client: APIClient) async -> [String] {
        guard client.apiKey != nil, let apps = try? await client.send(.get("apps")) else { return [] }
        return apps["apps"].elements.compactMap { app in
            EnvironmentStateText.faults(app).map { "\(app["bundleId"].plainText): \($0)".printable }
        }
    }
}

/// `martlet overview`: shows problems, notifications in progress and the numbers of today.
struct OverviewCommand: RequestCommand {
    static let configuration = command("overview", "Show trouble, campaigns in progress and the figures of today.")
        .example("overview --time-zone Europe/Berlin")

    @OptionGroup var access: ProviderOptions
    @Option(help: "The time zone in which today begins; default: UTC.") var timeZone: String?

    func request() -> APIRequest { .get("overview").query([("timeZone", self.timeZone)]) }

    func text(of response: JSONValue) -> String {
        let trouble = response["trouble"].elements.map { entry in
            let place = [entry["app"].plainText, entry["environment"].plainText].filter { !$0.isEmpty }
            let prefix = place.isEmpty ? "" : "\(place.joined(separator: " ")): "
            return "! \(prefix)\(entry["message"].plainText)\n  \(entry["remedy"].plainText)".printableLines
        }
        let campaigns = response["campaigns"].elements
        let columns: TextTable = [
            "app", "name", "state", "recipients", .init("accepted", "counters.accepted"),
            .init("per second", "ratePerSecond"), .init("seconds left", "secondsLeft"), "id",
        ]
        let sections = [
            trouble.isEmpty ? "no trouble" : trouble.joined(separator: "\n"),
            campaigns.isEmpty ? "no campaign in progress" : columns.text(of: campaigns),
            "today: "
                + StatisticsCommand.outcomes.map { "\(response["today"][$0].plainText) \($0)" }.joined(separator: ", "),
        ]
        return sections.joined(separator: "\n\n")
    }
}

extension String {
    /// The string with its control characters other than line breaks replaced, so that it cannot control the terminal.
    fileprivate var printableLines: String {
        self.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }.joined(
            separator: "\n"
        )
    }
}

/// `martlet statistics`: shows the numbers of sent and opened pushes per interval.
struct StatisticsCommand: RequestCommand {
    static let configuration = command("statistics", "Show what was sent and opened, in minutes, hours or days.")
        .example("statistics --app com.example.MyApp --from 2026-11-01T00:00:00Z --step day")

    static let outcomes = ["accepted", "rejected", "failed", "skipped", "unknown", "opened"]

    @OptionGroup var access: ProviderOptions
    @Option(help: "Only the numbers of the app with this bundle id.") var app: String?
    @Option(help: "From this time on, as 2026-11-25T09:30:00Z; default: a day ago.") var from: String?
    @Option(help: "Before this time.") var to: String?
    @Option(help: "minute, hour or day; default: by the length of the range.") var step: String?

    func request() -> APIRequest {
        .get("statistics").query([("app", self.app), ("from", self.from), ("to", self.to), ("step", self.step)])
    }

    func text(of response: JSONValue) -> String {
        let numbers = Self.outcomes.map { TextTable.Column(stringLiteral: $0) }
        let intervals = response["intervals"].elements
        guard !intervals.isEmpty else { return "(none)" }
        let chart = TextTable([.time(response["step"].plainText, "atMs")] + numbers).text(of: intervals)
        let reasons = response["reasons"].elements
        let columns: TextTable = ["count", "state", "reason"]
        return reasons.isEmpty ? chart : "\(chart)\n\n\(columns.text(of: reasons))"
    }
}

/// `martlet system`: shows the store, the queue and the nodes of a provider.
struct SystemCommand: RequestCommand {
    static let configuration = command("system", "Show the store, the queue and the nodes of a provider.")
        .example("system")

    @OptionGroup var access: ProviderOptions

    func request() -> APIRequest { .get("system") }

    func text(of response: JSONValue) -> String {
        let columns: TextTable = [
            .init("database bytes", "store.databaseBytes"), .init("log bytes", "store.logBytes"),
            .init("disk available", "store.diskAvailableBytes"), .init("queries running", "store.queriesRunning"),
            .init("queries waiting", "store.queriesWaiting"), "notifications", "retries",
            .init("retry lag", "retryLagSeconds"), .init("shards sent", "shardsLeased"),
            .init("shards waiting", "shardsWaiting"), .init("webhook backlog", "webhookBacklog"),
        ]
        let nodes: TextTable = [
            .init("node", "name"), "id", "version", "address", .time("started", "startedAtMs"),
            .init("uptime", "uptimeSeconds"), .time("last heartbeat", "seenAtMs"), .time("ended", "endedAtMs"),
            "duties",
        ]
        let lanes: TextTable = ["lane", .init("pages in flight", "pagesInFlight")]
        return [
            columns.details(of: response), lanes.text(of: response["lanes"].elements),
            nodes.text(of: response["nodes"].elements),
        ].joined(separator: "\n\n")
    }
}
