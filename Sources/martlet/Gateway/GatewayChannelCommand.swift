import ArgumentParser
import PushSupport
import PushTypes

struct GatewayChannelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel",
        abstract: "Broadcast channels.",
        discussion: "Example: martlet gateway channel create com.example.MyApp --environment sandbox --stores",
        subcommands: [List.self, Create.self, Delete.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List those of an app.",
            discussion: "Example: martlet gateway channel list com.example.MyApp --environment sandbox"
        )

        @OptionGroup var admin: AdminOptions
        @OptionGroup var app: ChannelOptions

        func run() async throws {
            try await self.admin.list(
                "channels",
                ["channels"],
                query: [("environment", self.app.environment.rawValue), ("bundleId", self.app.bundleID)],
                [
                    .init("channel", "channelId"), .init("policy", "policy"), .init("created", "createdAt", .time),
                ]
            )
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create one; prints its id.",
            discussion: "Example: martlet gateway channel create com.example.MyApp --environment sandbox --stores"
        )

        @OptionGroup var admin: AdminOptions
        @OptionGroup var app: ChannelOptions

        @Flag(help: "Keep the newest broadcast for devices that are away (message storage policy 1).")
        var stores = false

        func run() async throws {
            let body: [String: JSONValue?] = [
                "environment": .string(self.app.environment.rawValue), "bundleId": .string(self.app.bundleID),
                "policy": .integer(self.stores ? 1 : 0),
            ]
            try await self.admin.show(APIRequest(.post, ["channels"], body: body)) {
                $0["channelId"].stringValue?.printable ?? ""
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete one.",
            discussion: "Example: martlet gateway channel delete com.example.MyApp dHN0… --environment sandbox"
        )

        @OptionGroup var admin: AdminOptions
        @OptionGroup var app: ChannelOptions

        @Argument(help: "The channel's id, in base64.")
        var channel: String

        func run() async throws {
            let path = ["channels", self.app.environment.rawValue, self.app.bundleID, self.channel]
            try await self.admin.show(APIRequest(.delete, path)) { _ in "channel \(self.channel) is deleted" }
        }
    }
}

/// Whose channels.
struct ChannelOptions: ParsableArguments {
    @Argument(help: "The app's bundle id.")
    var bundleID: String

    @Option(help: "sandbox or production.")
    var environment: PushEnvironment
}
