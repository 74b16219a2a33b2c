import ArgumentParser
import ProviderModel
import PushSupport

/// `martlet key`: manages the API keys of a provider.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = command("key", "The API keys of a provider.")
        .example("key add backend --scope send --scope register --app com.example.MyApp")
        .subcommands([ListResources<Key>.self, Own.self, Add.self, Change.self, RemoveResource<Key>.self])

    private static let scopes = APIKeyRequest.change["scopes"].words

    enum Key: ProviderResource, ListableResource, RemovableResource {
        static let path = "keys"
        static let id = ArgumentHelp("Its id.")
        static let columns: TextTable = [
            "id", "name", "scopes", "apps", "rate", .time("since", "createdAtMs"), .init("expires", "expiresAt"),
            .init("last used", "lastUsedAt"),
        ]
        static let list = command("list", "List all keys, without their texts.").example("key list")
        static let remove = command("remove", "Remove a key: requests with it are rejected from now on.")
            .example("key remove 9E1C…")

        static func removed(_ id: String) -> String { "the key is removed" }
    }

    /// `martlet key show`: shows the API key with which the command itself is authenticated.
    struct Own: RequestCommand {
        static let configuration = command("show", "Show the key that this command uses: its name and its scopes.")
            .example("key show")

        @OptionGroup var access: ProviderOptions

        func request() -> APIRequest { .get("key") }

        func text(of response: JSONValue) -> String { Key.columns.details(of: response) }
    }

    /// The options that restrict the apps, the lifetime and the rate of a key.
    struct Limits: ParsableArguments {
        @Option(
            name: .customLong("app"),
            help: "The bundle id of an app to which it is limited; repeat it for several. Default: all apps."
        )
        var apps: [String] = []
        @Option(help: "The time at which it expires, such as 2027-01-01T00:00:00Z. Default: never.")
        var expiresAt: String?
        @Option(parsing: .unconditional, help: "The seconds after which it expires.") var expiresIn: Int?
        @Option(
            parsing: .unconditional,
            help: "Its requests per second, \(APIKeyRequest.change["rate"].bounds). Default: the server's rate."
        )
        var rate: Int?

        var members: [String: JSONValue?] {
            [
                "apps": .texts(self.apps), "expiresAt": self.expiresAt?.json, "expiresIn": self.expiresIn?.json,
                "rate": self.rate?.json,
            ]
        }

        func validate() throws {
            guard self.expiresAt == nil || self.expiresIn == nil else {
                throw ValidationError("Give --expires-at or --expires-in, not both.")
            }
        }
    }

    /// `martlet key add`: issues a key.
    struct Add: RequestCommand {
        static let configuration = command("add", "Issue a key; its text is shown only once.")
            .example("key add dashboard --scope read")
            .example("key add prometheus --scope metrics")
            .example("key add in-the-app --scope registerSelf --app com.example.MyApp")
        private static let columns: TextTable = [
            "id", "scopes", "apps", .init("expires", "expiresAt"), .init("key (shown only now)", "key"),
        ]

        @OptionGroup var access: ProviderOptions
        @OptionGroup var limits: Limits
        @Argument(help: "The name in lists and in the audit.") var name: String
        @Option(
            help: """
                \(KeyCommand.scopes); repeat it for several. admin allows everything, and a key with registerSelf is \
                public.
                """
        )
        var scope: [String]

        func request() -> APIRequest {
            .post(Key.path).body(
                self.limits.members.merging(["name": self.name.json, "scopes": .array(self.scope.map(\.json))]) { $1 }
            )
        }

        func text(of response: JSONValue) -> String { Self.columns.details(of: response) }
    }

    /// `martlet key set`: changes a key.
    struct Change: ResourceCommand {
        static let configuration = command("set", "Change a key, from its next request on.")
            .example("key set 9E1C… --expires-in 86400")
            .example("key set 9E1C… --all-apps --never-expires --server-rate")

        @OptionGroup var resource: ResourceOptions<Key>
        @OptionGroup var limits: Limits
        @Option(help: "The name in lists and in the audit.") var name: String?
        @Option(help: "Its scopes in place of the earlier ones, \(KeyCommand.scopes); repeat it for several.")
        var scope: [String] = []
        @Flag(help: "Make it valid for all apps.") var allApps = false
        @Flag(help: "Let it never expire.") var neverExpires = false
        @Flag(help: "Use the server's rate.") var serverRate = false

        func validate() throws {
            let pairs = [
                (self.allApps, !self.limits.apps.isEmpty, "--all-apps or --app"),
                (
                    self.neverExpires, self.limits.expiresAt != nil || self.limits.expiresIn != nil,
                    "--never-expires or a time"
                ),
                (self.serverRate, self.limits.rate != nil, "--server-rate or --rate"),
            ]
            for case (true, true, let names) in pairs { throw ValidationError("Give \(names), not both.") }
        }

        func request() -> APIRequest {
            var members = self.limits.members
            if self.allApps { members["apps"] = .some(.null) }
            if self.neverExpires { members["expiresAt"] = .some(.null) }
            if self.serverRate { members["rate"] = .some(.null) }
            let own: [String: JSONValue?] = ["name": self.name?.json, "scopes": .texts(self.scope)]
            return self.resource.request(.patch).body(members.merging(own) { $1 })
        }

        func text(of response: JSONValue) -> String { Key.columns.details(of: response) }
    }
}
