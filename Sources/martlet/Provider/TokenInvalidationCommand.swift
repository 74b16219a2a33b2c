import ArgumentParser
import PushSupport
import PushTypes

/// `martlet hygiene`: shows token invalidation and closes its circuit breaker.
struct TokenInvalidationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "hygiene",
        "The deactivation of tokens by a provider, and the breaker that stops it.",
        """
        When far more tokens than usual are rejected as dead or bad, the breaker opens and nothing is deactivated until \
        'apply' or 'discard' decides about the tokens that were withheld.
        """,
        example: "hygiene show --app com.example.MyApp",
        subcommands: [Show.self, DecideBreaker<Apply>.self, DecideBreaker<Discard>.self, Events.self],
        defaultSubcommand: Show.self
    )

    /// `martlet hygiene show`: shows whether tokens are deactivated.
    struct Show: RequestCommand {
        static let configuration = CommandConfiguration(
            "show",
            "Show whether tokens are deactivated, for each environment.",
            example: "hygiene show --app com.example.MyApp"
        )

        @OptionGroup var access: AppOptions

        var request: APIRequest { APIRequest(.get, ["hygiene"]) }

        func text(of response: JSONValue) -> String {
            TextTable(
                [
                    .init("environment", "environment"), .init("breaker", "breaker"), .init("since", "sinceMs", .time),
                    .init("reason", "reason"),
                ],
                response["environments"].elements
            ).text
        }
    }

    /// `martlet hygiene apply`: deactivates the tokens that were withheld.
    enum Apply: BreakerDecision {
        static let configuration = CommandConfiguration(
            "apply",
            "Deactivate the tokens that were withheld, and close the breaker.",
            example: "hygiene apply production --app com.example.MyApp"
        )
        static let result = "deactivated"
    }

    /// `martlet hygiene discard`: keeps withheld tokens active.
    enum Discard: BreakerDecision {
        static let configuration = CommandConfiguration(
            "discard",
            "Keep the tokens that were withheld active, and close the breaker.",
            example: "hygiene discard sandbox --app com.example.MyApp"
        )
        static let result = "kept"
    }

    /// `martlet hygiene events`: lists what was done to which token and why.
    struct Events: PagedListCommand {
        static let configuration = CommandConfiguration(
            "events",
            "List what was done to which token and why, newest first.",
            example: "hygiene events --app com.example.MyApp --action deactivated"
        )
        static let member = "events"
        static let columns = HistoryText.events

        @OptionGroup var access: AppOptions
        @OptionGroup var shown: LimitOption
        @Option(help: "Such as deactivated, withheld, suspected, reactivated or moved.") var action: String?
        @Option(help: "Only of this token, in hex.") var token: String?

        var request: APIRequest {
            APIRequest(.get, ["tokens", "events"], query: [("action", self.action), ("token", self.token)])
        }
    }
}

/// A decision about the tokens that an open breaker has withheld.
protocol BreakerDecision: SendableMetatype {
    /// Name and help of the command; the name is the action in the path too.
    static var configuration: CommandConfiguration { get }
    /// The state of the tokens afterwards.
    static var result: String { get }
}

/// The command that decides about withheld tokens.
struct DecideBreaker<Decision: BreakerDecision>: RequestCommand {
    static var configuration: CommandConfiguration { Decision.configuration }

    @OptionGroup var access: AppOptions
    @Argument(help: "sandbox or production.") var environment: PushEnvironment

    var request: APIRequest {
        APIRequest(.post, ["hygiene", self.environment.rawValue], action: Decision.configuration.commandName)
    }

    func text(of response: JSONValue) -> String {
        "\(CellText.of(response["tokens"])) tokens \(Decision.result); the breaker is closed"
    }
}
