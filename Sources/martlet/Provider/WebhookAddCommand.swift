import ArgumentParser
import PushSupport

struct WebhookAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a webhook; its secret is shown only now.",
        discussion: "Example: martlet webhook add https://hooks.example.com/push --event token --app com.example.MyApp"
    )

    @OptionGroup var access: AppAccess

    @Argument(help: "Where to post to: https.")
    var url: String

    @Option(help: "delivery or token; repeat it for both. Default: both.")
    var event: [String] = []

    func run() async throws {
        let body: [String: JSONValue?] = [
            "url": .string(self.url), "events": self.event.isEmpty ? nil : .array(self.event.map(JSONValue.string)),
        ]
        try await self.access.show(.post, ["webhooks"], body: body, WebhookCommand.details)
    }
}

struct WebhookSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change where a webhook posts to or what it is told, or switch it off.",
        discussion: "Example: martlet webhook set 52c4… --no-active"
    )

    @OptionGroup var provider: ProviderAccess
    @OptionGroup var webhook: WebhookArgument

    @Option(help: "Where to post to: https.")
    var url: String?

    @Option(help: "delivery or token; repeat it for both.")
    var event: [String] = []

    @Flag(inversion: .prefixedNo, help: "Whether anything is posted.")
    var active: Bool?

    func validate() throws {
        guard self.url != nil || !self.event.isEmpty || self.active != nil else {
            throw ValidationError("Say what to change: --url, --event, --active or --no-active.")
        }
    }

    func run() async throws {
        let body: [String: JSONValue?] = [
            "url": self.url.map(JSONValue.string),
            "events": self.event.isEmpty ? nil : .array(self.event.map(JSONValue.string)),
            "active": self.active.map(JSONValue.bool),
        ]
        let request = APIRequest(.patch, ["webhooks", self.webhook.id], body: body)
        try await self.provider.show(request, WebhookCommand.details)
    }
}
