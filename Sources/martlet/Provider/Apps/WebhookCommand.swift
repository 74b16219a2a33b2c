import ArgumentParser
import ProviderModel
import PushSupport

/// `martlet webhook`: manages the webhooks of a provider.
struct WebhookCommand: AsyncParsableCommand {
    static let configuration = command("webhook", "The URLs that a provider posts events to.")
        .example("webhook add https://hooks.example.com/push --app com.example.MyApp")
        .subcommands([
            ListResources<Webhook>.self, ShowResource<Webhook>.self, Add.self, Change.self,
            RemoveResource<Webhook>.self, PerformAction<Enable>.self, Test.self, Replay.self, Deliveries.self,
            PerformAction<Rotate>.self,
            PerformAction<FinishRotation>.self,
        ])

    private static let events = WebhookRequest.change["events"].words

    enum Webhook: ProviderResource, ListableResource, ShowableResource, RemovableResource {
        typealias ListAccess = AppOptions

        static let path = "webhooks"
        static let id = ArgumentHelp("The webhook's id.")
        static let columns: TextTable = [
            "id", "url", "events", "active", "block", "failures", .time("last success", "lastSuccessAtMs"),
            .init("last error", "lastError"),
        ]
        private static let moreColumns: TextTable = [
            .time("next try", "nextTryAtMs"), .time("since", "createdAtMs"), .init("secret (shown only now)", "secret"),
        ]
        static let list = command("list", "List the webhooks of an app.")
            .example("webhook list --app com.example.MyApp")
        static let show = command("show", "Show a webhook.").example("webhook show 52c4…")
        static let remove = command("remove", "Remove a webhook.").example("webhook remove 52c4…")

        static func details(_ response: JSONValue) -> String { (self.columns + self.moreColumns).details(of: response) }

        static func removed(_ id: String) -> String { "the webhook is removed" }
    }

    /// `martlet webhook deliveries`: lists the deliveries of blocks of events to a webhook.
    struct Deliveries: PagedListCommand {
        static let configuration = command("deliveries", "List the blocks of events for a webhook, newest first.")
            .detail("'webhook replay' posts them again, starting from a block.")
            .example("webhook deliveries 52c4… --limit 20")
        static let columns: TextTable = [
            "block", "kind", "state", "bytes", .time("at", "atMs"), .time("posted", "postedAtMs"),
            .time("acknowledged", "acknowledgedAtMs"),
        ]

        var access: ResourceOptions<Webhook> { self.resource }
        @OptionGroup var resource: ResourceOptions<Webhook>
        @OptionGroup var shown: LimitOption

        func request() -> APIRequest { self.resource.request(.get, "deliveries") }
    }

    /// `martlet webhook add`: adds a webhook.
    struct Add: RequestCommand {
        static let configuration = command("add", "Add a webhook; its secret is shown only now.")
            .example("webhook add https://hooks.example.com/push --event token --app com.example.MyApp")

        @OptionGroup var access: AppOptions
        @Argument(help: "The URL to post to: https.") var url: String
        @Option(help: "\(WebhookCommand.events); repeat it for several. Default: all but receipt.")
        var event: [String] = []

        func request() -> APIRequest { .post(Webhook.path).body(["url": self.url.json, "events": .texts(self.event)]) }

        func text(of response: JSONValue) -> String { Webhook.details(response) }
    }

    /// `martlet webhook set`: changes the URL or the events of a webhook.
    struct Change: ResourceCommand {
        static let configuration = command("set", "Change the URL or the events of a webhook, or switch it off.")
            .example("webhook set 52c4… --no-active")

        @OptionGroup var resource: ResourceOptions<Webhook>
        @Option(help: "The URL to post to: https.") var url: String?
        @Option(help: "\(WebhookCommand.events); repeat it for several.") var event: [String] = []
        @Flag(inversion: .prefixedNo, help: "Post events, or not.") var active: Bool?

        func validate() throws {
            guard self.url != nil || !self.event.isEmpty || self.active != nil else {
                throw ValidationError("Give what to change: --url, --event, --active or --no-active.")
            }
        }

        func request() -> APIRequest {
            self.resource.request(.patch)
                .body(["url": self.url?.json, "events": .texts(self.event), "active": self.active?.json])
        }
    }

    /// `martlet webhook replay`: sends the events since a time or a block again.
    struct Replay: ResourceCommand {
        static let configuration = command("replay", "Post events again, from a time or from a block of events on.")
            .example("webhook replay 52c4… --since 2026-12-01T08:00:00Z")

        @OptionGroup var resource: ResourceOptions<Webhook>
        @Option(help: "The time from which to post again, as 2026-12-01T08:00:00Z.") var since: String?
        @Option(help: "The block from which to post again: the first number in a post's id.") var block: Int?

        func validate() throws {
            guard (self.since == nil) != (self.block == nil) else {
                throw ValidationError("Give --since or --block, one of both.")
            }
        }

        func request() -> APIRequest {
            self.resource.request(.post).action("replay").body(["since": self.since?.json, "block": self.block?.json])
        }
    }

    /// `martlet webhook test`: sends a test event immediately.
    struct Test: AsyncParsableCommand {
        static let configuration = command(
            "test",
            "Post a signed test event at once, and show what the receiver responds."
        )
        .detail("The status is 0 if the receiver accepted it, 1 if not.")
        .example("webhook test 52c4…")

        @OptionGroup var resource: ResourceOptions<Webhook>

        func run() async throws {
            let connection = try await self.resource.connection()
            // The resolver and the receiver have up to 10 s each.
            let response = try await connection.send(self.resource.request(.post).action("test"), within: .seconds(30))
            let columns: TextTable = ["accepted", "status", "error", "milliseconds", "id"]
            try self.resource.print(response) { columns.details(of: $0) }
            if response["accepted"] != true { throw ExitCode.failure }
        }
    }

    /// An action on a webhook.
    protocol Action: ResourceAction where Kind == Webhook {}

    /// `martlet webhook enable`: enables a disabled webhook again.
    enum Enable: Action {
        static let configuration = command("enable", "Resume where the webhook was disabled.")
            .example("webhook enable 52c4…")
    }

    /// `martlet webhook rotate`: signs the webhook's requests with a new secret in addition to the current one, until
    /// the rotation is finished.
    enum Rotate: Action {
        static let configuration = command("rotate", "Sign with a new secret beside the old one; it is shown only now.")
            .example("webhook rotate 52c4…")
    }

    /// `martlet webhook finish-rotation`: signs the webhook's requests only with the newest secret.
    enum FinishRotation: Action {
        static let configuration = command("finish-rotation", "Sign with the newest secret only.")
            .example("webhook finish-rotation 52c4…")
    }
}
