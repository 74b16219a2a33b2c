import ArgumentParser
import Foundation
import Logging
import NIOCore
import PushSupport
import PushTypes
import ServiceLifecycle

/// `martlet gateway events`: lists events, or follows them.
struct GatewayEventsCommand: AsyncParsableCommand {
    static let configuration = command("events")
        .help("Show what happened to notifications and devices, newest first; or as it happens.")
        .detail(
            "With --follow, events are printed until Ctrl-C, one line each; with --after, earlier ones since then come first."
        )
        .example("gateway events --token 01a2… --follow")

    @OptionGroup var access: AdminOptions
    @OptionGroup(title: "Which events") var filter: EventFilterOptions
    @Option(help: "The maximum number of entries to show, up to 1000. Default: 50.") var limit: Int?
    @Flag(help: "Print events as they happen, until Ctrl-C.") var follow = false

    func validate() throws {
        guard !self.follow || self.limit == nil else {
            throw ValidationError("--follow has no end to count to: leave out --limit.")
        }
    }

    func run() async throws {
        let connection = try await self.access.connection()
        guard self.follow else {
            let limit = ("limit", self.limit.map { "\($0)" })
            let response = try await connection.send(.get("events").query(self.filter.query + [limit]))
            return try self.access.print(response) { response in
                let events = response["events"].elements
                return events.isEmpty ? "(none)" : EventText.columns.text(of: events)
            }
        }
        let printer = EventPrinter(
            client: connection.client,
            request: .get("events", "stream").query(self.filter.query),
            asJSON: self.access.json
        )
        let logger = Logger(label: "martlet") { _ in SwiftLogNoOpLogHandler() }
        try await ServiceRunner.run([], until: printer, logger: logger)
    }
}

/// The options that filter events. An event is shown if it matches all given options.
struct EventFilterOptions: ParsableArguments {
    @Option(help: "Only events of the device with this id.") var device: String?
    @Option(help: "Only events of the device and app of this device token, in hexadecimal.") var token: String?
    @Option(help: "Only events of the notification with this apns-id.") var apnsID: String?
    @Option(help: "Only events of this topic.") var topic: String?
    @Option(help: "sandbox or production.") var environment: PushEnvironment?
    @Option(help: "Only events after the one with this id, oldest first.") var after: Int64?

    var query: [(String, String?)] {
        [
            ("device", self.device), ("token", self.token), ("apnsId", self.apnsID), ("topic", self.topic),
            ("environment", self.environment?.rawValue), ("after", self.after.map { "\($0)" }),
        ]
    }
}

/// `martlet gateway notification`: shows the state and the events of one notification.
struct GatewayNotificationCommand: RequestCommand {
    static let configuration = command("notification", "The state of one notification, and its events.")
        .example("gateway notification EC1BF194-B3B2-424A-89A9-5A918A6E6B5D")

    @OptionGroup var access: AdminOptions
    @Argument(help: "Its apns-id, or the apns-request-id of a broadcast.") var apnsID: String

    func request() -> APIRequest { .get("notifications", self.apnsID) }

    func text(of response: JSONValue) -> String {
        let state = response["state"].stringValue?.printable ?? ""
        return "\(state)\n\n\(EventText.columns.text(of: response["events"].elements))"
    }
}

/// `martlet gateway feedback`: shows the tokens that the legacy feedback service will report.
struct GatewayFeedbackCommand: AsyncParsableCommand {
    static let configuration = command("feedback")
        .help("List the tokens that wait for a provider to read the legacy feedback service.")
        .example("gateway feedback list --topic com.example.MyApp")
        .subcommands([List.self])

    /// `martlet gateway feedback list`: lists the tokens that no provider has read from the feedback service yet.
    struct List: ListCommand {
        static let configuration = command("list", "List the tokens; reading them here removes none.")
            .example("gateway feedback list --environment sandbox")
        static let columns: TextTable = [.time("since", "sinceMs"), "environment", "topic", "token"]

        @OptionGroup var access: AdminOptions
        @Option(help: "sandbox or production. Default: both.") var environment: PushEnvironment?
        @Option(help: "Only those of this topic.") var topic: String?

        func request() -> APIRequest {
            .get("feedback").query([("environment", self.environment?.rawValue), ("topic", self.topic)])
        }
    }
}

/// Prints the events that a gateway streams, until the stream finishes or standard output is closed.
private struct EventPrinter: Service {
    /// The maximum length of a line of the stream, in bytes. A longer one fails the command.
    private static let maximumLine = 64 * 1024

    let client: APIClient
    let request: APIRequest
    /// A Boolean value that indicates whether events are printed in the gateway's JSON form instead of as text.
    let asJSON: Bool

    func run() async throws {
        let body = try await self.client.stream(self.request).cancelOnGracefulShutdown()
        for try await line in body.splitUTF8Lines(maximumBufferSize: Self.maximumLine) where line.hasPrefix("data: ") {
            guard self.print(line.dropFirst(6)) else { return }
        }
        if !Task.isShuttingDownGracefully { throw SettingsError("the gateway at \(self.client.baseURL) has ended") }
    }

    /// Prints one event, and returns whether standard output is still open.
    private func print(_ data: Substring) -> Bool {
        guard !self.asJSON, let event = try? JSONValue(parsing: Data(data.utf8)) else {
            return StandardOutput.line(String(data))
        }
        return StandardOutput.line(EventText.line(event))
    }
}

enum EventText {
    static let columns: TextTable = [
        .time("time", "timeMs"), "event", "environment", "topic", .init("apns-id", "apnsId"), "device", "id",
    ]

    static func line(_ event: JSONValue) -> String {
        let texts = Self.columns.columns.dropLast().map { $0.text(in: event) }
        return texts.filter { !$0.isEmpty }.joined(separator: "  ")
    }
}
