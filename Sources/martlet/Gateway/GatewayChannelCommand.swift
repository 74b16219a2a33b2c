import ArgumentParser
import PushSupport
import PushTypes

/// `martlet gateway channel`: manages the broadcast channels of an app.
struct GatewayChannelCommand: AsyncParsableCommand {
    static let configuration = command("channel", "Broadcast channels.")
        .example("gateway channel add com.example.MyApp --environment sandbox --stores")
        .subcommands([List.self, Add.self, Remove.self])

    /// The options for the app and the environment of a channel.
    struct App: ParsableArguments {
        @Argument(help: "The app's bundle id.") var bundleID: String
        @Option(help: "sandbox or production.") var environment: PushEnvironment
    }

    /// `martlet gateway channel list`: lists the channels of an app.
    struct List: ListCommand {
        static let configuration = command("list", "List the channels of an app.")
            .example("gateway channel list com.example.MyApp --environment sandbox")
        static let columns: TextTable = [.init("channel", "channelId"), "policy", .time("created", "createdAt")]

        @OptionGroup var access: AdminOptions
        @OptionGroup var app: App

        func request() -> APIRequest {
            .get("channels").query([("environment", self.app.environment.rawValue), ("bundleId", self.app.bundleID)])
        }
    }

    /// `martlet gateway channel add`: creates a channel.
    struct Add: RequestCommand {
        static let configuration = command("add", "Create a channel and print its id.")
            .example("gateway channel add com.example.MyApp --environment sandbox --stores")

        @OptionGroup var access: AdminOptions
        @OptionGroup var app: App
        @Flag(help: "Keep the newest broadcast for devices that are away (message storage policy 1).")
        var stores = false

        func request() -> APIRequest {
            .post("channels").body([
                "environment": self.app.environment.rawValue.json, "bundleId": self.app.bundleID.json,
                "policy": .integer(self.stores ? 1 : 0),
            ])
        }

        func text(of response: JSONValue) -> String { response["channelId"].stringValue?.printable ?? "" }
    }

    /// `martlet gateway channel remove`: deletes a channel.
    struct Remove: RequestCommand {
        static let configuration = command("remove", "Remove a channel.")
            .example("gateway channel remove com.example.MyApp dHN0… --environment sandbox")

        @OptionGroup var access: AdminOptions
        @OptionGroup var app: App
        @Argument(help: "The channel's id, in base64.") var channel: String

        func request() -> APIRequest {
            .delete("channels", self.app.environment.rawValue, self.app.bundleID, self.channel)
        }

        func text(of response: JSONValue) -> String { "channel \(self.channel) is removed" }
    }
}
