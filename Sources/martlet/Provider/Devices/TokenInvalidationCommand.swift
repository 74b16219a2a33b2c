import ArgumentParser
import ProviderModel
import PushSupport
import PushTypes

/// `martlet hygiene`: shows how rejected tokens are deactivated, and closes the circuit breaker that stops this.
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

    /// `martlet hygiene show`: shows whether rejected tokens are currently deactivated.
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
        /// A decision about the tokens whose deactivation an open circuit breaker has withheld.
        protocol Decision: ResourceAction where Kind == Breaker {
            /// The verb for the result in the command's message, such as `deactivated`.
            static var result: String { get }
        }

        typealias ID = PushEnvironment

        static let path = "hygiene"
        static let id = ArgumentHelp("sandbox or production.", valueName: "environment")
    }

    /// `martlet hygiene apply`: deactivates the tokens whose deactivation was withheld.
    enum Apply: Breaker.Decision {
        static let configuration = command("apply", "Deactivate the tokens that were withheld, and close the breaker.")
            .example("hygiene apply production --app com.example.MyApp")
        static let result = "deactivated"
    }

    /// `martlet hygiene discard`: keeps the tokens active whose deactivation was withheld.
    enum Discard: Breaker.Decision {
        static let configuration = command("discard")
            .help("Keep the tokens that were withheld active, and close the breaker.")
            .example("hygiene discard sandbox --app com.example.MyApp")
        static let result = "kept"
    }

    /// `martlet hygiene events`: lists deactivations and other changes of tokens, with their reasons.
    struct Events: PagedListCommand {
        static let configuration = command("events", "List what was done to which token and why, newest first.")
            .example("hygiene events --app com.example.MyApp --action deactivated")
        static let columns = HistoryText.events

        @OptionGroup var access: AppOptions
        @OptionGroup var shown: LimitOption
        @Option(help: "Only events with this action: \(Schema.choice(of: TokenEventRecord.Action.self).words).")
        var action: String?
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

/// `martlet device reactivate`: undoes deactivations of tokens.
struct DeviceReactivateCommand: AsyncParsableCommand {
    static let configuration = command("reactivate", "Make devices active again that were deactivated by mistake.")
        .detail("Changes only devices that have been inactive since then, with the same token.")
        .detail("Without --yes it counts them and changes nothing.")
        .example(
            """
            device reactivate --app com.example.MyApp --since 2026-11-22T10:00:00Z --reason DeviceTokenNotForTopic --yes
            """
        )

    @OptionGroup var access: AppOptions
    @Option(help: "Deactivations from this time on, as 2026-12-01T08:00:00Z.") var since: String
    @Option(help: "Deactivations before this time. Default: now.") var until: String?
    @Option(help: "Only those with this reason of the push service, such as BadDeviceToken.") var reason: String?
    @Option(help: "Only those caused by pushes of the notification with this id.") var notification: String?
    @Option(help: "sandbox or production. Default: both.") var environment: PushEnvironment?
    @Flag(help: "Count them and change nothing, as without --yes.") var dryRun = false
    @Flag(help: "Change them.") var yes = false

    func validate() throws {
        guard !(self.dryRun && self.yes) else { throw ValidationError("Give --dry-run or --yes, not both.") }
    }

    func request() -> APIRequest {
        .post(RegisteredDevice.path).action("reactivate").body([
            "from": self.since.json, "to": self.until?.json, "reason": self.reason?.json,
            "notification": self.notification?.json, "environment": self.environment?.rawValue.json,
            "dryRun": self.yes ? nil : true.json,
        ])
    }

    func run() async throws {
        let connection = try await self.access.connection()
        var (response, devices) = (JSONValue.null, Int64(0))
        // For very many devices a response is not complete, and the same request continues.
        repeat {
            response = try await connection.send(self.request())
            devices += response["devices"].integerValue ?? 0
        } while response["complete"] == false
        let total = devices
        try self.access.print(["devices": .integer(total), "dryRun": response["dryRun"]]) { _ in
            self.yes
                ? "\(total) devices are active again"
                : "\(total) devices would be active again; repeat it with --yes"
        }
    }
}
