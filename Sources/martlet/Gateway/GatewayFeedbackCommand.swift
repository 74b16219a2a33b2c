import ArgumentParser
import PushTypes

struct GatewayFeedbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feedback",
        abstract: "Tokens that wait for a provider to read the legacy feedback service.",
        discussion: "Example: martlet gateway feedback list --topic com.example.MyApp",
        subcommands: [List.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List them; reading them here does not take them away.",
            discussion: "Example: martlet gateway feedback list --environment sandbox"
        )

        @OptionGroup var admin: AdminOptions

        @Option(help: "sandbox or production. Default: both.")
        var environment: PushEnvironment?

        @Option(help: "Only those of this topic.")
        var topic: String?

        func run() async throws {
            try await self.admin.list(
                "feedback",
                ["feedback"],
                query: [("environment", self.environment?.rawValue), ("topic", self.topic)],
                [
                    .init("since", "sinceMs", .time), .init("environment", "environment"), .init("topic", "topic"),
                    .init("token", "token"),
                ]
            )
        }
    }
}
