import ArgumentParser
import PushTypes

struct HygieneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hygiene",
        abstract: "What a provider did about tokens, and the breaker that stops it.",
        discussion: """
            When far more tokens than usual are called dead or bad, the breaker opens and nothing is deactivated until \
            'apply' or 'discard' says what becomes of those that were withheld.

            Example: martlet hygiene show --app com.example.MyApp
            """,
        subcommands: [Show.self, Apply.self, Discard.self, Events.self],
        defaultSubcommand: Show.self
    )

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show whether tokens are deactivated, for each environment.",
            discussion: "Example: martlet hygiene show --app com.example.MyApp"
        )

        @OptionGroup var access: AppAccess

        func run() async throws {
            try await self.access.show(.get, ["hygiene"]) { answer in
                TextTable(
                    [
                        .init("environment", "environment"), .init("breaker", "breaker"),
                        .init("since", "sinceMs", .time), .init("reason", "reason"),
                    ],
                    answer["environments"].elements
                ).text
            }
        }
    }

    struct Apply: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Deactivate the tokens that were withheld, and close the breaker.",
            discussion: "Example: martlet hygiene apply production --app com.example.MyApp"
        )

        @OptionGroup var access: AppAccess

        @Argument(help: "sandbox or production.")
        var environment: PushEnvironment

        func run() async throws {
            try await self.access.show(.post, ["hygiene", self.environment.rawValue], action: "apply") {
                "\(CellText.of($0["tokens"])) tokens deactivated; the breaker is closed"
            }
        }
    }

    struct Discard: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Keep the tokens that were withheld alive, and close the breaker.",
            discussion: "Example: martlet hygiene discard sandbox --app com.example.MyApp"
        )

        @OptionGroup var access: AppAccess

        @Argument(help: "sandbox or production.")
        var environment: PushEnvironment

        func run() async throws {
            try await self.access.show(.post, ["hygiene", self.environment.rawValue], action: "discard") {
                "\(CellText.of($0["tokens"])) tokens kept; the breaker is closed"
            }
        }
    }

    struct Events: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List what was done to which token and why, newest first.",
            discussion: "Example: martlet hygiene events --app com.example.MyApp --action deactivated"
        )

        @OptionGroup var access: AppAccess
        @OptionGroup var shown: LimitOption

        @Option(help: "Such as deactivated, withheld, suspected, reactivated or moved.")
        var action: String?

        @Option(help: "Only of this token, in hex.")
        var token: String?

        func run() async throws {
            let query = [("action", self.action), ("token", self.token)]
            try await self.access.list(
                "events",
                ["tokens", "events"],
                query: query,
                limit: self.shown.limit,
                HistoryText.events
            )
        }
    }
}
