import ArgumentParser
import PushSupport

struct WebhookEnableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Go on from where the webhook was given up.",
        discussion: "Example: martlet webhook enable 52c4…"
    )

    @OptionGroup var provider: ProviderAccess
    @OptionGroup var webhook: WebhookArgument

    func run() async throws { try await self.provider.act("enable", on: self.webhook) }
}

struct WebhookReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Tell it again, from a moment or from a block of events on.",
        discussion: "Example: martlet webhook replay 52c4… --since 2026-12-01T08:00:00Z"
    )

    @OptionGroup var provider: ProviderAccess
    @OptionGroup var webhook: WebhookArgument

    @Option(help: "The moment, as 2026-12-01T08:00:00Z.")
    var since: String?

    @Option(help: "The block: the first number in a post's id.")
    var block: Int?

    func validate() throws {
        guard (self.since == nil) != (self.block == nil) else {
            throw ValidationError("Give --since or --block, one of both.")
        }
    }

    func run() async throws {
        let body: [String: JSONValue?] = [
            "since": self.since.map(JSONValue.string), "block": self.block.map { .integer(Int64($0)) },
        ]
        try await self.provider.act("replay", on: self.webhook, body: body)
    }
}

struct WebhookRotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Sign with a new secret beside the old one; it is shown only now.",
        discussion: "Example: martlet webhook rotate 52c4…"
    )

    @OptionGroup var provider: ProviderAccess
    @OptionGroup var webhook: WebhookArgument

    func run() async throws { try await self.provider.act("rotate", on: self.webhook) }
}

struct WebhookFinishRotationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "finish-rotation",
        abstract: "Sign with the newest secret only.",
        discussion: "Example: martlet webhook finish-rotation 52c4…"
    )

    @OptionGroup var provider: ProviderAccess
    @OptionGroup var webhook: WebhookArgument

    func run() async throws { try await self.provider.act("finish-rotation", on: self.webhook) }
}

extension ProviderAccess {
    fileprivate func act(
        _ action: String,
        on webhook: WebhookArgument,
        body: [String: JSONValue?]? = nil
    ) async throws {
        let request = APIRequest(.post, ["webhooks", webhook.id], action: action, body: body)
        try await self.show(request, WebhookCommand.details)
    }
}
