import ArgumentParser
import PushSupport

/// `martlet key`: manages the API keys of a provider.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = command("key", "The API keys of a provider.")
        .example("key create backend --scope send --scope register")
        .subcommands([ListResources<Key>.self, Create.self, RemoveResource<Key>.self])

    /// The API keys of a provider.
    enum Key: ProviderResource, ListableResource, RemovableResource {
        static let path = "keys"
        static let id = ArgumentHelp("Its id.")
        static let columns: TextTable = ["id", "name", "scopes", .time("since", "createdAtMs")]
        static let list = command("list", "List all keys, without their texts.").example("key list")
        static let remove = command("revoke", "Revoke a key: requests with it are rejected from now on.")
            .example("key revoke 9E1C…")

        static func removed(_ id: String) -> String { "the key is revoked" }
    }

    /// `martlet key create`: makes a key.
    struct Create: RequestCommand {
        static let configuration = command("create", "Make a key; its text is shown only now.")
            .example("key create dashboard --scope read")
        private static let columns: TextTable = ["id", "scopes", .init("key (shown only now)", "key")]

        @OptionGroup var access: ProviderOptions
        @Argument(help: "Its name in lists and in the audit.") var name: String
        @Option(help: "admin (everything), send, register or read; repeat it for several.") var scope: [String]

        func request() -> APIRequest {
            .post(Key.path).body(["name": self.name.json, "scopes": .array(self.scope.map(\.json))])
        }

        func text(of response: JSONValue) -> String { Self.columns.details(of: response) }
    }
}
