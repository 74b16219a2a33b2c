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
        subcommands: [Show.self, Apply.self, Discard.self, Events.self],
        defaultSubcommand: Show.self
    )

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

    struct Apply: RequestCommand {
        static let configuration = CommandConfiguration(
            "apply",
            "Deactivate the tokens that were withheld, and close the breaker.",
            example: "hygiene apply production --app com.example.MyApp"
        )

        @OptionGroup var access: AppOptions
        @OptionGroup var breaker: BreakerArgument

        var request: APIRequest { self.breaker.request("apply") }

        func text(of response: JSONValue) -> String {
            "\(CellText.of(response["tokens"])) tokens deactivated; the breaker is closed"
        }
    }

    struct Discard: RequestCommand {
        static let configuration = CommandConfiguration(
            "discard",
            "Keep the tokens that were withheld active, and close the breaker.",
            example: "hygiene discard sandbox --app com.example.MyApp"
        )

        @OptionGroup var access: AppOptions
        @OptionGroup var breaker: BreakerArgument

        var request: APIRequest { self.breaker.request("discard") }

        func text(of response: JSONValue) -> String {
            "\(CellText.of(response["tokens"])) tokens kept; the breaker is closed"
        }
    }

    struct Events: ListCommand {
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

        var limit: Int? { self.shown.limit }
        var request: APIRequest {
            APIRequest(.get, ["tokens", "events"], query: [("action", self.action), ("token", self.token)])
        }
    }
}

/// The environment whose breaker is meant, as an argument.
struct BreakerArgument: ParsableArguments {
    @Argument(help: "sandbox or production.") var environment: PushEnvironment

    func request(_ action: String) -> APIRequest {
        APIRequest(.post, ["hygiene", self.environment.rawValue], action: action)
    }
}
