import ArgumentParser
import PushSupport

/// `martlet gateway app`: manages the apps of a gateway.
struct GatewayAppCommand: AsyncParsableCommand {
    static let configuration = command("app", "The apps that can be pushed to.")
        .example("gateway app add com.example.MyApp --team DEF123GHIJ")
        .subcommands([ListResources<App>.self, Add.self, Change.self, RemoveResource<App>.self])

    enum App: GatewayResource, ListableResource, RemovableResource {
        static let path = "apps"
        static let id = ArgumentHelp("Its bundle id.", valueName: "bundle-id")
        static let columns: TextTable = [
            .init("bundle id", "bundleId"), .init("team", "teamId"), "broadcast", .init("token length", "tokenLength"),
        ]
        static let list = command("list", "List all apps.").example("gateway app list")
        static let remove = command("remove", "Remove an app: pushes to it are rejected from now on.")
            .example("gateway app remove com.example.MyApp")

        static func removed(_ id: String) -> String { "\(id) is removed" }
    }

    /// `martlet gateway app add`: registers an app.
    struct Add: ResourceCommand {
        static let configuration = command("add", "Register an app.")
            .example("gateway app add com.example.MyApp --team DEF123GHIJ --broadcast")

        @OptionGroup var resource: ResourceOptions<App>
        @Option(help: "The team to which it belongs, 10 letters or digits.") var team: String
        @Flag(inversion: .prefixedNo, help: "Allow broadcast channels, or not. Default: the gateway's setting.")
        var broadcast: Bool?
        @Option(help: "Bytes of its device tokens: 32, or 0 for a varying length. Default: the gateway's setting.")
        var tokenLength: Int?

        func request() -> APIRequest {
            .post(App.path).body([
                "teamId": self.team.json, "bundleId": self.resource.id.json, "broadcast": self.broadcast?.json,
                "tokenLength": self.tokenLength?.json,
            ])
        }

        func text(of response: JSONValue) -> String { "\(self.resource.id) is registered for team \(self.team)" }
    }

    /// `martlet gateway app set`: changes an app.
    struct Change: ResourceCommand {
        static let configuration = command("set")
            .help("Change an app. Devices get tokens of another length the next time they ask.")
            .example("gateway app set com.example.MyApp --token-length 32")

        @OptionGroup var resource: ResourceOptions<App>
        @Flag(inversion: .prefixedNo, help: "Allow broadcast channels, or not, which deletes them.")
        var broadcast: Bool?
        @Option(help: "Bytes of its device tokens: 32, 0 for a varying length, or 'default' for the gateway's setting.")
        var tokenLength: String?

        func validate() throws {
            guard let tokenLength, tokenLength != "default", Int64(tokenLength) == nil else { return }
            throw ValidationError("--token-length is 32, 0 or default.")
        }

        func request() -> APIRequest {
            let tokenLength = self.tokenLength.map { Int64($0)?.json ?? .null }
            return self.resource.request(.patch).body(["broadcast": self.broadcast?.json, "tokenLength": tokenLength])
        }

        func text(of response: JSONValue) -> String { "\(self.resource.id) is changed" }
    }
}
