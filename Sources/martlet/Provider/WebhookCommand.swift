import ArgumentParser
import PushSupport

struct WebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook",
        abstract: "Where a provider posts what happens.",
        discussion: "Example: martlet webhook add https://hooks.example.com/push --app com.example.MyApp",
        subcommands: [
            List.self, Show.self, WebhookAddCommand.self, WebhookSetCommand.self, Remove.self,
            WebhookEnableCommand.self, WebhookReplayCommand.self, WebhookRotateCommand.self,
            WebhookFinishRotationCommand.self,
        ]
    )

    static let columns: [TextTable.Column] = [
        .init("id", "id"), .init("url", "url"), .init("events", "events"), .init("active", "active"),
        .init("block", "block"), .init("failures", "failures"), .init("last success", "lastSuccessAtMs", .time),
        .init("last error", "lastError"),
    ]

    static func details(_ answer: JSONValue) -> String {
        let more: [TextTable.Column] = [
            .init("next try", "nextTryAtMs", .time), .init("since", "createdAtMs", .time),
            .init("secret (shown only now)", "secret"),
        ]
        return TextTable.details(Self.columns + more, answer)
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List them.",
            discussion: "Example: martlet webhook list --app com.example.MyApp"
        )

        @OptionGroup var access: AppAccess

        func run() async throws { try await self.access.list("webhooks", WebhookCommand.columns) }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show one.",
            discussion: "Example: martlet webhook show 52c4…"
        )

        @OptionGroup var provider: ProviderAccess
        @OptionGroup var webhook: WebhookArgument

        func run() async throws {
            try await self.provider.show(APIRequest(.get, ["webhooks", self.webhook.id]), WebhookCommand.details)
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Forget one.",
            discussion: "Example: martlet webhook remove 52c4…"
        )

        @OptionGroup var provider: ProviderAccess
        @OptionGroup var webhook: WebhookArgument

        func run() async throws {
            try await self.provider.show(APIRequest(.delete, ["webhooks", self.webhook.id])) { _ in
                "the webhook is removed"
            }
        }
    }
}

/// A webhook as an argument.
struct WebhookArgument: ParsableArguments {
    @Argument(help: "The webhook's id.")
    var id: String
}
