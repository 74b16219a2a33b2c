import ArgumentParser
import PushSupport
import PushTypes

/// The columns of tables about a provider's devices.
enum DeviceColumns {
    /// The columns of lists.
    static let short: [TextTable.Column] = [
        .init("token", "token"), .init("environment", "environment"), .init("state", "state"), .init("user", "user"),
        .init("locale", "locale"), .init("version", "appVersion"), .init("tags", "tags"),
        .init("last seen", "registeredAtMs", .time),
    ]

    /// The columns of a single device.
    static let all: [TextTable.Column] = [
        .init("token", "token"), .init("id", "id"), .init("environment", "environment"), .init("state", "state"),
        .init("user", "user"), .init("locale", "locale"), .init("time zone", "timeZone"),
        .init("app version", "appVersion"), .init("installation", "installation"),
        .init("capabilities", "capabilities"), .init("tags", "tags"), .init("attributes", "attributes"),
        .init("since", "createdAtMs", .time), .init("last seen", "registeredAtMs", .time),
    ]
}

/// A device token as an argument, and requests about its devices.
struct TokenArgument: ParsableArguments {
    @Argument(help: "Its device token, hex or base64.") var token: String

    /// The token as paths have it.
    var hex: String {
        get throws {
            guard let token = DeviceToken(userInput: self.token) else {
                throw ValidationError("'\(self.token.prefix(12))…' is not a device token: give it in hex or base64.")
            }
            return token.hex
        }
    }

    /// Returns a request about the devices with the token.
    func request(
        _ method: APIRequest.Method,
        _ parts: [String] = [],
        query: [(String, String?)] = []
    ) throws -> APIRequest {
        APIRequest(method, ["devices", try self.hex] + parts, query: query)
    }
}

/// `martlet device list`.
struct DeviceListCommand: PagedListCommand {
    static let configuration = CommandConfiguration("list", "List the devices of an app, inactive ones too.")
        .example("device list --app com.example.MyApp --tag beta")
    static let member = "devices"
    static let columns = DeviceColumns.short

    @OptionGroup var access: AppOptions
    @OptionGroup var shown: LimitOption
    @Option(help: "Only those of this user.") var user: String?
    @Option(help: "Only those with this tag.") var tag: String?

    var request: APIRequest { APIRequest(.get, ["devices"], query: [("user", self.user), ("tag", self.tag)]) }
}

/// `martlet device show`.
struct DeviceShowCommand: RequestCommand {
    static let configuration = CommandConfiguration(
        "show",
        "Show the devices with a token: one for each environment at most.",
        example: "device show 00aa11… --app com.example.MyApp"
    )

    @OptionGroup var access: AppOptions
    @OptionGroup var token: TokenArgument

    var request: APIRequest {
        get throws { try self.token.request(.get) }
    }

    func text(of response: JSONValue) -> String {
        response["devices"].elements.map { TextTable.details(DeviceColumns.all, $0) }.joined(separator: "\n\n")
    }
}

/// `martlet device remove`.
struct DeviceRemoveCommand: RequestCommand {
    static let configuration = CommandConfiguration("remove", "Remove the devices with a token.")
        .example("device remove 00aa11… --app com.example.MyApp --environment sandbox")

    @OptionGroup var access: AppOptions
    @OptionGroup var token: TokenArgument
    @Option(help: "sandbox or production. Default: both.") var environment: PushEnvironment?

    var request: APIRequest {
        get throws { try self.token.request(.delete, query: [("environment", self.environment?.rawValue)]) }
    }

    func text(of response: JSONValue) -> String { "the device is forgotten" }
}

/// `martlet device history`.
struct DeviceHistoryCommand: RequestCommand {
    static let configuration = CommandConfiguration(
        "history",
        "The deliveries and events of a token, registered or not; newest first.",
        example: "device history 00aa11… --app com.example.MyApp"
    )

    @OptionGroup var access: AppOptions
    @OptionGroup var token: TokenArgument
    @OptionGroup var shown: LimitOption

    var request: APIRequest {
        get throws { try self.token.request(.get, ["history"], query: [("limit", "\(self.shown.limit)")]) }
    }

    func text(of response: JSONValue) -> String { HistoryText.of(response) }
}

/// A history as three tables.
enum HistoryText {
    /// The columns of deliveries.
    static let deliveries: [TextTable.Column] = [
        .init("at", "atMs", .time), .init("state", "state"), .init("reason", "reason"), .init("attempts", "attempts"),
        .init("token", "token"), .init("apns-id", "apnsId"), .init("notification", "notification"),
    ]

    /// The columns of token events.
    static let events: [TextTable.Column] = [
        .init("at", "atMs", .time), .init("action", "action"), .init("reason", "reason"), .init("token", "token"),
        .init("environment", "environment"), .init("notification", "notification"),
    ]

    /// Returns the tables.
    static func of(_ response: JSONValue) -> String {
        let parts = [
            ("devices", "devices", DeviceColumns.short), ("deliveries", "deliveries", Self.deliveries),
            ("token events", "tokenEvents", Self.events),
        ]
        return parts.map { title, name, columns in
            let entries = response[name].elements
            return "\(title): " + (entries.isEmpty ? "none" : "\n\(TextTable(columns, entries).text)")
        }.joined(separator: "\n\n")
    }
}
