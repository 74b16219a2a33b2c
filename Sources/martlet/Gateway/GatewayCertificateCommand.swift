import ArgumentParser

struct GatewayCertificateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "certificate",
        abstract: "The certificates by which providers are known.",
        discussion: "Example: martlet gateway certificate create --topic com.example.MyApp",
        subcommands: [List.self, GatewayCertificateCreateCommand.self, Revoke.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List them.",
            discussion: "Example: martlet gateway certificate list"
        )

        @OptionGroup var admin: AdminOptions

        func run() async throws {
            try await self.admin.list(
                "certificates",
                ["certificates"],
                [
                    .init("serial", "serial"), .init("topic", "topic"), .init("topics", "topics"),
                    .init("environments", "environments"), .init("expires", "expiresAt", .time),
                    .init("revoked", "revokedAt", .time),
                ]
            )
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke one: connections with it are refused from now on.",
            discussion: "Example: martlet gateway certificate revoke 4f2a…"
        )

        @OptionGroup var admin: AdminOptions

        @Argument(help: "Its serial number, as the list shows it.")
        var serial: String

        func run() async throws {
            try await self.admin.show(APIRequest(.delete, ["certificates", self.serial])) { _ in
                "certificate \(self.serial) is revoked"
            }
        }
    }
}
