import ArgumentParser
import PushSupport

/// `martlet key`: manages the API keys of a provider.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "key",
        "The API keys of a provider.",
        example: "key create backend --scope send --scope register",
        subcommands: [ListResources<Key>.self, Create.self, RemoveResource<Key>.self]
    )

    /// The API keys of a provider.
    enum Key: ListedResource, RemovedResource {
        typealias ListAccess = ProviderOptions
        typealias Access = ProviderOptions

        static let path = ["keys"]
        static let id = ArgumentHelp("Its id.")
        static let columns: [TextTable.Column] = [
            .init("id", "id"), .init("name", "name"), .init("scopes", "scopes"), .init("since", "createdAtMs", .time),
        ]
        static let list = CommandConfiguration("list", "List all keys, without their texts.", example: "key list")
        static let remove = CommandConfiguration("revoke", "Revoke a key: requests with it are rejected from now on.")
            .example("key revoke 9E1C…")

        static func removed(_ id: String) -> String { "the key is revoked" }
    }

    /// `martlet key create`: makes a key.
    struct Create: RequestCommand {
        static let configuration = CommandConfiguration("create", "Make a key; its text is shown only now.")
            .example("key create dashboard --scope read")

        @OptionGroup var access: ProviderOptions
        @Argument(help: "Its name in lists and in the audit.") var name: String
        @Option(help: "admin (everything), send, register or read; repeat it for several.") var scope: [String]

        var request: APIRequest {
            APIRequest(.post, Key.path, body: ["name": self.name.json, "scopes": .array(self.scope.map(\.json))])
        }

        func text(of response: JSONValue) -> String {
            TextTable.details(
                [.init("id", "id"), .init("scopes", "scopes"), .init("key (shown only now)", "key")],
                response
            )
        }
    }
}
