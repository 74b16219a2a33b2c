import ArgumentParser
import ProviderModel
import PushSupport

/// `martlet entitlement`: manages the connection to the publisher's server that decides about entitlement.
struct EntitlementCommand: AsyncParsableCommand {
    static let configuration = command(
        "entitlement",
        "The publisher's server that is asked who may read an app's issues."
    )
    .example("entitlement set https://publisher.example.com/entitlements --app com.example.MyApp")
    .subcommands([Show.self, Grounds.self, Change.self, Test.self, Remove.self])

    /// The path component that follows that of the app in all requests.
    fileprivate static let path = "entitlement"
    private static let columns: TextTable = [
        "url", "form", .init("when down", "whenDown"), .time("since", "changedAtMs"),
        .init("secret (shown only now)", "secret"),
    ]

    /// `martlet entitlement show`: shows the configured publisher's server.
    struct Show: RequestCommand {
        static let configuration = command("show", "Show the server.")
            .example("entitlement show --app com.example.MyApp")

        @OptionGroup var access: AppOptions

        func request() -> APIRequest { .get(EntitlementCommand.path) }
        func text(of response: JSONValue) -> String { EntitlementCommand.columns.details(of: response) }
    }

    /// `martlet entitlement grounds`: shows the grounds that entitle a reader to a retail issue.
    struct Grounds: RequestCommand {
        static let configuration = command("grounds", "Show what decides about retail issues: purchases, a server.")
            .example("entitlement grounds --app com.example.MyApp")
        private static let columns: TextTable = [
            .init("App Store root", "appStoreRoot"), .init("sandbox purchases", "sandboxPurchases"),
            .init("publisher's server", "server"),
        ]

        @OptionGroup var access: AppOptions

        func request() -> APIRequest { .get(EntitlementCommand.path).action("grounds") }
        func text(of response: JSONValue) -> String { Self.columns.details(of: response) }
    }

    /// `martlet entitlement set`: configures the publisher's server.
    struct Change: RequestCommand {
        static let configuration = command("set", "Set the server; a secret that is made for it is shown only now.")
            .detail("The earlier server's secret stays, unless --secret-file gives another.")
            .example("entitlement set https://publisher.example.com/entitlements --app com.example.MyApp")
            .example("entitlement set https://publisher.example.com/api --form xml --when-down refuse --app …")

        private static let list = EntitlementServerRequest.object

        @OptionGroup var access: AppOptions
        @Argument(help: "The URL to ask: https.") var url: String
        @Option(help: "\(Self.list["form"].words): xml is the direct entitlement API of Adobe DPS. Default: json.")
        var form: String?
        @Option(
            help: "\(Self.list["whenDown"].words): what to do while the server does not answer. Default: allowKnown."
        )
        var whenDown: String?
        @Option(help: "A file with the secret to sign with in its first line; '-' is standard input.")
        var secretFile: String?

        func request() throws -> APIRequest {
            let secret = try self.secretFile.map { try EntitlementCommand.line(of: $0, for: "--secret-file") }
            return .put(EntitlementCommand.path).body([
                "url": self.url.json, "form": self.form?.json, "whenDown": self.whenDown?.json, "secret": secret?.json,
            ])
        }

        func text(of response: JSONValue) -> String { EntitlementCommand.columns.details(of: response) }
    }

    /// `martlet entitlement test`: asks the publisher's server about an account.
    struct Test: AsyncParsableCommand {
        static let configuration = command("test", "Ask the server about an account, and show the exchange.")
            .detail("The status is 0 if the server gave an answer that can be used, 1 if not.")
            .example("entitlement test --account alice --product com.example.issue7 --app com.example.MyApp")

        private static let columns: TextTable = [
            "answered", "entitled", "error", "method", "url", "request", "status", "response", "milliseconds",
        ]

        @OptionGroup var access: AppOptions
        @Option(help: "A product id to ask about; repeat it for several.") var product: [String]
        @Option(help: "The account, as the app names it.") var account: String?
        @Option(help: "A file with the account's authToken in its first line; '-' is standard input.")
        var tokenFile: String?

        func validate() throws {
            guard self.account != nil || self.tokenFile != nil else {
                throw ValidationError("Give --account, --token-file or both.")
            }
        }

        func request() throws -> APIRequest {
            let token = try self.tokenFile.map { try EntitlementCommand.line(of: $0, for: "--token-file") }
            return .post(EntitlementCommand.path).action("test").body([
                "productIds": .texts(self.product), "account": self.account?.json, "authToken": token?.json,
            ])
        }

        func run() async throws {
            let request = try self.request()
            // The publisher's server has up to 30 s.
            let response = try await self.access.connection().send(request, within: .seconds(40))
            try self.access.print(response) { Self.columns.details(of: $0) }
            if response["answered"] != true { throw ExitCode.failure }
        }
    }

    /// `martlet entitlement remove`: removes the publisher's server from the app's configuration.
    struct Remove: RequestCommand {
        static let configuration = command("remove", "Remove the server: purchases alone decide then.")
            .example("entitlement remove --app com.example.MyApp")

        @OptionGroup var access: AppOptions

        func request() -> APIRequest { .delete(EntitlementCommand.path) }
        func text(of response: JSONValue) -> String { "the publisher's server is removed" }
    }

    /// Returns the first line of a file with a secret. As an option, it would be visible in the process list.
    fileprivate static func line(of path: String, for option: String) throws -> String {
        let text = String(decoding: try InputFile.data(path, for: option, maximum: 4096), as: UTF8.self)
        return String(text.prefix { !$0.isNewline })
    }
}
