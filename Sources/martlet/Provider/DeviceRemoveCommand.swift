import ArgumentParser
import PushSupport
import PushTypes

struct DeviceRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Forget the devices with a token.",
        discussion: "Example: martlet device remove 00aa11… --app com.example.MyApp --environment sandbox"
    )

    @OptionGroup var access: AppAccess
    @OptionGroup var token: TokenArgument

    @Option(help: "sandbox or production. Default: both.")
    var environment: PushEnvironment?

    func run() async throws {
        let query = [("environment", self.environment?.rawValue)]
        try await self.access.show(.delete, ["devices", try self.token.hex], query: query) { _ in
            "the device is forgotten"
        }
    }
}

struct DeviceHistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Everything that happened to a token, registered or not; newest first.",
        discussion: "Example: martlet device history 00aa11… --app com.example.MyApp"
    )

    @OptionGroup var access: AppAccess
    @OptionGroup var token: TokenArgument
    @OptionGroup var shown: LimitOption

    func run() async throws {
        let path = ["devices", try self.token.hex, "history"]
        try await self.access.show(.get, path, query: [("limit", "\(self.shown.limit)")], HistoryText.of)
    }
}

/// A history as three tables.
enum HistoryText {
    static let deliveries: [TextTable.Column] = [
        .init("at", "atMs", .time), .init("state", "state"), .init("reason", "reason"), .init("attempts", "attempts"),
        .init("token", "token"), .init("apns-id", "apnsId"), .init("notification", "notification"),
    ]

    static let events: [TextTable.Column] = [
        .init("at", "atMs", .time), .init("action", "action"), .init("reason", "reason"), .init("token", "token"),
        .init("environment", "environment"), .init("notification", "notification"),
    ]

    static func of(_ answer: JSONValue) -> String {
        let parts: [(String, [TextTable.Column])] = [
            ("devices", DeviceColumns.short), ("deliveries", Self.deliveries), ("tokenEvents", Self.events),
        ]
        return parts.map { name, columns in
            let entries = answer[name].elements
            let title = name == "tokenEvents" ? "token events" : name
            return "\(title): " + (entries.isEmpty ? "none" : "\n\(TextTable(columns, entries).text)")
        }.joined(separator: "\n\n")
    }
}
