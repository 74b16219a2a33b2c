import ArgumentParser
import ProviderModel
import PushSupport
import PushTypes

/// The devices of an app, which are identified by their token. Each environment has at most one device per token.
enum RegisteredDevice: ListableResource, ShowableResource, ResourceWithHistory {
    typealias ID = DeviceToken

    struct Filter: ListFilter {
        @OptionGroup var shown: LimitOption
        @Option(help: "Only those of this user.") var user: String?
        @Option(help: "Only those with this tag.") var tag: String?
        @Option(help: "Only those with tokens of this kind, such as voip.") var kind: DeviceTokenKind?
        @Option(help: "Only those whose token begins like this, in hexadecimal.") var token: String?
        @Option(help: "Only those of this installation.") var installation: String?
        @Option(help: "\(Schema.choice(of: DeviceSearch.State.self).words).") var state: String?
        @Option(help: "\(Schema.choice(of: DeviceSort.self).words).") var sort: String?

        var query: [(String, String?)] {
            [
                ("user", self.user), ("tag", self.tag), ("kind", self.kind?.rawValue), ("token", self.token),
                ("installation", self.installation), ("state", self.state), ("sort", self.sort),
            ]
        }
        var maximum: Int? { self.shown.limit }
    }

    static let path = "devices"
    static let id = ArgumentHelp("Its device token, hex or base64.", valueName: "token")
    static let list = command("list", "List the devices of an app, including inactive ones.")
        .example("device list --app com.example.MyApp --tag beta")
    static let show = command("show", "Show the devices with a token: at most one for each environment.")
        .example("device show 00aa11… --app com.example.MyApp")
    static let history = command("history", "The deliveries and events of a token, registered or not; newest first.")
        .example("device history 00aa11… --app com.example.MyApp")

    static let columns: TextTable = [
        "token", "kind", "environment", "state", "user", "locale", .init("version", "appVersion"), "tags",
        .time("last seen", "registeredAtMs"),
    ]

    static let allColumns: TextTable = [
        "token", "id", "kind", "activity", "environment", "state", "user", "locale", .init("time zone", "timeZone"),
        .init("app version", "appVersion"), "installation", "capabilities", "tags", "attributes",
        .init("opt-outs", "preferences.optOuts"), .init("quiet hours", "quietHours"),
        .init("encryption key", "encryptionKey"),
        .time("since", "createdAtMs"), .time("last seen", "registeredAtMs"),
    ]

    /// Formats the devices that have a token. Tokens are shortened, and only the id of an encryption key is shown.
    static func details(_ response: JSONValue) -> String {
        response["devices"].elements.map { device in
            let (hours, key) = (device["preferences"]["quietHours"], device["encryptionKey"])
            let token = device["token"].stringValue.flatMap { DeviceToken(userInput: $0) }
            return self.allColumns.details(
                of: device.replacing([
                    "token": token.map { .string("\($0)") } ?? device["token"],
                    "quietHours": hours == .null
                        ? .null : .string("\(hours["from"].plainText) to \(hours["to"].plainText)"),
                    "encryptionKey": .string(key == .null ? "none" : "yes, \(key["id"].plainText)"),
                ])
            )
        }
        .joined(separator: "\n\n")
    }
}

/// `martlet device remove`: removes the devices that have a token.
struct DeviceRemoveCommand: ResourceCommand {
    static let configuration = command("remove", "Remove the devices with a token.")
        .example("device remove 00aa11… --app com.example.MyApp --environment sandbox")

    @OptionGroup var resource: ResourceOptions<RegisteredDevice>
    @Option(help: "sandbox or production. Default: both.") var environment: PushEnvironment?

    func request() -> APIRequest { self.resource.request(.delete).query([("environment", self.environment?.rawValue)]) }

    func text(of response: JSONValue) -> String { "the device is forgotten" }
}

/// A resource with a command `history`: a user or a device token.
protocol ResourceWithHistory: AppResource, IdentifiedResource {
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

/// Formats a history as three tables: devices, deliveries and token events.
enum HistoryText {
    static let deliveries: TextTable = [
        .time("at", "atMs"), "state", "reason", "attempts", "token", .init("apns-id", "apnsId"), "notification",
    ]

    static let events: TextTable = [.time("at", "atMs"), "action", "reason", "token", "environment", "notification"]

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
