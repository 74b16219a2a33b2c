import ArgumentParser
import PushSupport

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "The API keys of a provider.",
        discussion: "Example: martlet key create backend --scope send --scope register",
        subcommands: [List.self, Create.self, Revoke.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List them, without their texts.",
            discussion: "Example: martlet key list"
        )

        @OptionGroup var provider: ProviderAccess

        func run() async throws {
            try await self.provider.list(
                "keys",
                APIRequest(.get, ["keys"]),
                [
                    .init("id", "id"), .init("name", "name"), .init("scopes", "scopes"),
                    .init("since", "createdAtMs", .time),
                ]
            )
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a key; its text is shown only now.",
            discussion: "Example: martlet key create dashboard --scope read"
        )

        @OptionGroup var provider: ProviderAccess

        @Argument(help: "How lists and the audit call it.")
        var name: String

        @Option(help: "admin (everything), send, register or read; repeat it for several.")
        var scope: [String]

        func run() async throws {
            let body: [String: JSONValue?] = [
                "name": .string(self.name), "scopes": .array(self.scope.map(JSONValue.string)),
            ]
            try await self.provider.show(APIRequest(.post, ["keys"], body: body)) {
                TextTable.details(
                    [.init("id", "id"), .init("scopes", "scopes"), .init("key (shown only now)", "key")],
                    $0
                )
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a key: it is refused from now on.",
            discussion: "Example: martlet key revoke 9E1C…"
        )

        @OptionGroup var provider: ProviderAccess

        @Argument(help: "Its id.")
        var id: String

        func run() async throws {
            try await self.provider.show(APIRequest(.delete, ["keys", self.id])) { _ in "the key is revoked" }
        }
    }
}
