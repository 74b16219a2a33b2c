import ArgumentParser
import PushSupport
import PushTypes

/// `martlet hygiene`: shows token invalidation and closes its circuit breaker.
struct TokenInvalidationCommand: AsyncParsableCommand {
    static let configuration = command("hygiene")
        .help("The deactivation of tokens by a provider, and the breaker that stops it.")
        .detail(
            """
            When far more tokens than usual are rejected as dead or bad, the breaker opens and nothing is deactivated \
            until 'apply' or 'discard' decides about the tokens that were withheld.
            """
        )
        .example("hygiene show --app com.example.MyApp")
        .subcommands([Show.self, PerformAction<Apply>.self, PerformAction<Discard>.self, Events.self])
        .defaultSubcommand(Show.self)

    /// `martlet hygiene show`: shows whether tokens are deactivated.
    struct Show: RequestCommand {
        static let configuration = command("show", "Show whether tokens are deactivated, for each environment.")
            .example("hygiene show --app com.example.MyApp")

        private static let columns: TextTable = [
            "environment", "breaker", .time("since", "sinceMs"), "withheld", "reason",
        ]

        @OptionGroup var access: AppOptions

        func request() -> APIRequest { .get(Breaker.path) }

        func text(of response: JSONValue) -> String { Self.columns.text(of: response["environments"].elements) }
    }

    /// The circuit breakers of an app, one for each environment.
    enum Breaker: AppResource, IdentifiedResource {
        /// A decision about the tokens that an open breaker has withheld.
        protocol Decision: ResourceAction where Kind == Breaker {
            /// The state of the tokens afterwards.
            static var result: String { get }
        }

        typealias ID = PushEnvironment

        static let path = "hygiene"
        static let id = ArgumentHelp("sandbox or production.", valueName: "environment")
    }

    /// `martlet hygiene apply`: deactivates the tokens that were withheld.
    enum Apply: Breaker.Decision {
        static let configuration = command("apply", "Deactivate the tokens that were withheld, and close the breaker.")
            .example("hygiene apply production --app com.example.MyApp")
        static let result = "deactivated"
    }

    /// `martlet hygiene discard`: keeps withheld tokens active.
    enum Discard: Breaker.Decision {
        static let configuration = command("discard")
            .help("Keep the tokens that were withheld active, and close the breaker.")
            .example("hygiene discard sandbox --app com.example.MyApp")
        static let result = "kept"
    }

    /// `martlet hygiene events`: lists what was done to which token and why.
    struct Events: PagedListCommand {
        static let configuration = command("events", "List what was done to which token and why, newest first.")
            .example("hygiene events --app com.example.MyApp --action deactivated")
        static let columns = HistoryText.events

        @OptionGroup var access: AppOptions
        @OptionGroup var shown: LimitOption
        @Option(help: "Only events with this action, such as deactivated or withheld.") var action: String?
        @Option(help: "Only events of this token, in hexadecimal.") var token: String?

        func request() -> APIRequest {
            .get("tokens", "events").query([("action", self.action), ("token", self.token)])
        }
    }
}

extension TokenInvalidationCommand.Breaker.Decision {
    static func text(of response: JSONValue) -> String {
        "\(response["tokens"].plainText) tokens \(self.result); the breaker is closed"
    }
}
