import ArgumentParser
import PushTypes

/// Columns of tables about devices.
enum DeviceColumns {
    static let short: [TextTable.Column] = [
        .init("token", "token"), .init("environment", "environment"), .init("state", "state"), .init("user", "user"),
        .init("locale", "locale"), .init("version", "appVersion"), .init("tags", "tags"),
        .init("last seen", "registeredAtMs", .time),
    ]

    static let all: [TextTable.Column] = [
        .init("token", "token"), .init("id", "id"), .init("environment", "environment"), .init("state", "state"),
        .init("user", "user"), .init("locale", "locale"), .init("time zone", "timeZone"),
        .init("app version", "appVersion"), .init("installation", "installation"),
        .init("capabilities", "capabilities"), .init("tags", "tags"), .init("attributes", "attributes"),
        .init("since", "createdAtMs", .time), .init("last seen", "registeredAtMs", .time),
    ]
}

struct DeviceListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the devices of an app, inactive ones too.",
        discussion: "Example: martlet device list --app com.example.MyApp --tag beta"
    )

    @OptionGroup var access: AppAccess
    @OptionGroup var shown: LimitOption

    @Option(help: "Only those of this user.")
    var user: String?

    @Option(help: "Only those with this tag.")
    var tag: String?

    func run() async throws {
        try await self.access.list(
            "devices",
            ["devices"],
            query: [("user", self.user), ("tag", self.tag)],
            limit: self.shown.limit,
            DeviceColumns.short
        )
    }
}

struct DeviceShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the devices with a token: one for each environment at most.",
        discussion: "Example: martlet device show 00aa11… --app com.example.MyApp"
    )

    @OptionGroup var access: AppAccess
    @OptionGroup var token: TokenArgument

    func run() async throws {
        try await self.access.show(.get, ["devices", try self.token.hex]) { answer in
            answer["devices"].elements.map { TextTable.details(DeviceColumns.all, $0) }.joined(separator: "\n\n")
        }
    }
}

/// A device token as an argument.
struct TokenArgument: ParsableArguments {
    @Argument(help: "Its device token, hex or base64.")
    var token: String

    /// As it stands in paths.
    var hex: String {
        get throws {
            guard let token = DeviceToken(userInput: self.token) else {
                throw ValidationError("'\(self.token.prefix(12))…' is no device token: give it in hex or base64.")
            }
            return token.hex
        }
    }
}
