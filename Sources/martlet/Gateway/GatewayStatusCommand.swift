import ArgumentParser
import PushSupport

/// `martlet gateway status`: shows the gateway and its environments.
struct GatewayStatusCommand: RequestCommand {
    static let configuration = CommandConfiguration(
        "status",
        "Show whether a gateway runs, its listeners, and how much it holds.",
        example: "gateway status --json"
    )

    @OptionGroup var access: AdminOptions

    var request: APIRequest { APIRequest(.get, ["status"]) }

    func text(of status: JSONValue) -> String {
        let head = TextTable.details(
            [
                .init("gateway", "status"), .init("data directory", "dataDirectory"), .init("admin", "admin"),
                .init("devices", "devices"), .init("events", "events"),
            ],
            status
        )
        let table = TextTable(
            [
                .init("environment", "environment"), .init("online", "devicesOnline"),
                .init("unacknowledged", "unacknowledged"), .init("stored", "stored"), .init("doors", "doors"),
            ],
            status["environments"].elements
        )
        return "\(head)\n\n\(table.text)"
    }
}

/// `martlet gateway counters`: shows how often each event has happened.
struct GatewayCountersCommand: RequestCommand {
    static let configuration = CommandConfiguration(
        "counters",
        "How often each event happened since the gateway was started, in Apple's words.",
        example: "gateway counters"
    )

    @OptionGroup var access: AdminOptions

    var request: APIRequest { APIRequest(.get, ["counters"]) }

    func text(of response: JSONValue) -> String {
        TextTable(
            [.init("environment", "environment"), .init("event", "event"), .init("count", "count")],
            response["counters"].elements.filter { $0["count"] != .integer(0) }
        ).text
    }
}

/// `martlet gateway token-key`: manages the key that seals device tokens.
struct GatewayTokenKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "token-key",
        "The key that seals device tokens.",
        example: "gateway token-key rotate",
        subcommands: [Rotate.self]
    )

    /// `martlet gateway token-key rotate`: makes a new key.
    struct Rotate: RequestCommand {
        static let configuration = CommandConfiguration(
            "rotate",
            "Make a new key: each device gets new tokens when it asks next; then its old ones are answered with 410.",
            example: "gateway token-key rotate"
        )

        @OptionGroup var access: AdminOptions

        var request: APIRequest { APIRequest(.post, ["token-keys"]) }

        func text(of response: JSONValue) -> String {
            "token key \(response["tokenKeyId"].integerValue ?? 0) seals from now on"
        }
    }
}
