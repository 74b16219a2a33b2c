import ArgumentParser
import PushTypes

struct CredentialCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential",
        abstract: "What an app pushes with, one for each environment.",
        discussion: "Example: martlet credential set production AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ --app …",
        subcommands: [List.self, Set.self, Remove.self]
    )

    static let columns: [TextTable.Column] = [
        .init("environment", "environment"), .init("kind", "kind"), .init("team", "teamId"), .init("key", "keyId"),
        .init("subject", "subject"), .init("topics", "topics"), .init("expires", "expiresAtMs", .time),
        .init("fault", "fault"),
    ]

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List them, without their secrets.",
            discussion: "Example: martlet credential list --app com.example.MyApp"
        )

        @OptionGroup var access: AppAccess

        func run() async throws {
            try await self.access.list("credentials", CredentialCommand.columns)
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set one from a .p8 key, a .p12 archive or a PEM file; it replaces the one before.",
            discussion: """
                The file is read and checked here, then sent to the provider, which seals it.

                Example: martlet credential set sandbox AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ \
                --app com.example.MyApp
                """
        )

        @OptionGroup var access: AppAccess
        @OptionGroup var source: CredentialSource

        func run() async throws {
            let (app, settings) = try await self.access.named(["credential.passphrase": self.source.passphrase])
            let body = try self.source.members(passphrase: settings.secret("credential.passphrase"))
            let path = ["apps", app, "credentials", self.source.environment.rawValue]
            try await self.access.provider.show(APIRequest(.put, path, body: body), with: settings) {
                TextTable.details(CredentialCommand.columns, $0)
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove one: the app cannot push there any more.",
            discussion: "Example: martlet credential remove sandbox --app com.example.MyApp"
        )

        @OptionGroup var access: AppAccess

        @Argument(help: "sandbox or production.")
        var environment: PushEnvironment

        func run() async throws {
            try await self.access.show(.delete, ["credentials", self.environment.rawValue]) { _ in
                "the credential for \(self.environment.rawValue) is removed"
            }
        }
    }
}
