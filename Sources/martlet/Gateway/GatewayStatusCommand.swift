import ArgumentParser
import PushSupport

/// `martlet gateway status`: shows the gateway and its environments.
struct GatewayStatusCommand: RequestCommand {
    static let configuration = command("status", "Show whether a gateway runs, its listeners, and how much it holds.")
        .example("gateway status --json")

    private static let columns: TextTable = [
        .init("gateway", "status"), .init("data directory", "dataDirectory"), "admin", "devices", "events",
    ]
    private static let environments: TextTable = [
        "environment", .init("online", "devicesOnline"), "unacknowledged", "stored", .init("listeners", "doors"),
    ]

    @OptionGroup var access: AdminOptions

    func request() -> APIRequest { .get("status") }

    func text(of status: JSONValue) -> String {
        "\(Self.columns.details(of: status))\n\n\(Self.environments.text(of: status["environments"].elements))"
    }
}

/// `martlet gateway counters`: shows how often each event has happened.
struct GatewayCountersCommand: RequestCommand {
    static let configuration = command("counters")
        .help("Show how often each event has happened since the gateway was started, in Apple's words.")
        .example("gateway counters")

    @OptionGroup var access: AdminOptions

    func request() -> APIRequest { .get("counters") }

    func text(of response: JSONValue) -> String {
        let columns: TextTable = ["environment", "event", "count"]
        return columns.text(of: response["counters"].elements.filter { $0["count"] != .integer(0) })
    }
}

/// `martlet gateway token-key`: manages the key that seals device tokens.
struct GatewayTokenKeyCommand: AsyncParsableCommand {
    static let configuration = command("token-key", "The key that seals device tokens.")
        .example("gateway token-key rotate")
        .subcommands([Rotate.self])

    /// `martlet gateway token-key rotate`: makes a new key.
    struct Rotate: RequestCommand {
        static let configuration = command("rotate")
            .help(
                "Make a new key: each device gets new tokens the next time it asks, and its old ones are then answered with 410."
            )
            .example("gateway token-key rotate")

        @OptionGroup var access: AdminOptions

        func request() -> APIRequest { .post("token-keys") }

        func text(of response: JSONValue) -> String {
            "token key \(response["tokenKeyId"].integerValue ?? 0) seals from now on"
        }
    }
}
