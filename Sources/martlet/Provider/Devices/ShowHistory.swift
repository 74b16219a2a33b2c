import ArgumentParser
import PushSupport

/// A resource with a command `history`: a user or a device token.
protocol ResourceWithHistory: AppResource, IdentifiedResource {
    /// Name and help of the command.
    static var history: CommandConfiguration { get }
}

/// The command that shows the deliveries and token events of a resource.
struct ShowHistory<Kind: ResourceWithHistory>: ResourceCommand {
    static var configuration: CommandConfiguration { Kind.history }

    @OptionGroup var resource: ResourceOptions<Kind>
    @OptionGroup var shown: LimitOption

    func request() -> APIRequest { self.resource.request(.get, "history").query([("limit", "\(self.shown.limit)")]) }

    func text(of response: JSONValue) -> String { HistoryText.of(response) }
}

/// A history as three tables.
enum HistoryText {
    /// The columns of deliveries.
    static let deliveries: TextTable = [
        .time("at", "atMs"), "state", "reason", "attempts", "token", .init("apns-id", "apnsId"), "notification",
    ]

    /// The columns of token events.
    static let events: TextTable = [.time("at", "atMs"), "action", "reason", "token", "environment", "notification"]

    /// Returns the tables.
    static func of(_ response: JSONValue) -> String {
        let parts = [
            ("devices", "devices", RegisteredDevice.columns), ("deliveries", "deliveries", Self.deliveries),
            ("token events", "tokenEvents", Self.events),
        ]
        return parts.map { title, name, columns in
            let entries = response[name].elements
            return "\(title): " + (entries.isEmpty ? "none" : "\n\(columns.text(of: entries))")
        }.joined(separator: "\n\n")
    }
}
