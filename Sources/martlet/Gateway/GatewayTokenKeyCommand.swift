import ArgumentParser

struct GatewayTokenKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token-key",
        abstract: "The key that seals device tokens.",
        discussion: "Example: martlet gateway token-key rotate",
        subcommands: [Rotate.self]
    )

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a new key: each device gets new tokens when it asks next; then its old ones answer 410.",
            discussion: "Example: martlet gateway token-key rotate"
        )

        @OptionGroup var admin: AdminOptions

        func run() async throws {
            try await self.admin.show(APIRequest(.post, ["token-keys"])) {
                "token key \($0["tokenKeyId"].integerValue ?? 0) seals from now on"
            }
        }
    }
}
