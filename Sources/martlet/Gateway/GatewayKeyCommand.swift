import ArgumentParser
import PushSupport

struct GatewayKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "The keys that sign provider tokens.",
        discussion: "Example: martlet gateway key create --team DEF123GHIJ",
        subcommands: [List.self, GatewayKeyCreateCommand.self, Add.self, Revoke.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List them.",
            discussion: "Example: martlet gateway key list"
        )

        @OptionGroup var admin: AdminOptions

        func run() async throws {
            try await self.admin.list(
                "keys",
                ["keys"],
                [
                    .init("key id", "keyId"), .init("team", "teamId"), .init("scope", "scope"),
                    .init("environment", "environment"), .init("topics", "topics"),
                    .init("revoked", "revokedAt", .time),
                ]
            )
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Register a key that exists; the gateway keeps its public part only.",
            discussion: "Example: martlet gateway key add AuthKey_ABC123DEFG.p8 --key-id ABC123DEFG --team DEF123GHIJ"
        )

        @OptionGroup var admin: AdminOptions
        @OptionGroup var scope: KeyScopeOptions

        @Argument(help: "The .p8 file, or a public key in PEM.")
        var file: String

        @Option(help: "Its id, 10 letters or digits.")
        var keyID: String

        func run() async throws {
            let body = self.scope.members.merging([
                "keyId": .string(self.keyID), "key": .string(try OutputFile.read(self.file)),
            ]) { $1 }
            try await self.admin.show(APIRequest(.post, ["keys"], body: body)) { _ in
                "key \(self.keyID) is registered for team \(self.scope.team)"
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a key: its provider tokens are refused from now on.",
            discussion: "Example: martlet gateway key revoke ABC123DEFG"
        )

        @OptionGroup var admin: AdminOptions

        @Argument(help: "Its id.")
        var keyID: String

        func run() async throws {
            try await self.admin.show(APIRequest(.delete, ["keys", self.keyID])) { _ in
                "key \(self.keyID) is revoked"
            }
        }
    }
}
