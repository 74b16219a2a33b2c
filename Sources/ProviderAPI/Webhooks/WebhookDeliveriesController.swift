import Hummingbird
package import PushHTTP
import PushProvider
package import PushStore
import PushSupport
import PushTypes

/// `GET /v1/webhooks/{webhook}/deliveries`: the blocks of events for a webhook, and what became of them.
struct WebhookDeliveriesController: Controller {
    let store: any WebhookStore

    var operations: [ProviderOperation] {
        [
            .init(.get, "/v1/webhooks/{webhook}/deliveries", id: "listWebhookDeliveries", self.list)
                .summary("The blocks of events for a webhook, newest first, with their posts.")
                .tag(.webhooks).scope(.operate).cost(.query).parameters(.cursor, .limit())
                .responses(.ok(.page("deliveries", of: WebhookDeliveryRecord.schema))).reservingPage(ofEntries: 288)
        ]
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let webhook = try await request.object("webhook") { try await self.store.webhook($0) }
        let page = try request.page(.webhookDeliveries)
        let entries = try await self.store.deliveries(to: webhook, before: page.after, limit: page.limit)
        return try .page("deliveries", entries, next: page.next(after: entries, \.block))
    }
}

extension WebhookDeliveryRecord: ResponseObject {
    private var state: String { self.isAcknowledged ? "acknowledged" : "waiting" }

    package static let schemaName: String? = "WebhookDelivery"
    package static let members: [ResponseMember<Self>] = [
        .required("block", \.block, "The number for `:replay`, and the first number in the id of a post."),
        .required("kind", \.kind.rawValue, as: .choice(of: WebhookRecord.Event.self)),
        .required("atMs", \.at),
        .required("bytes", \.bytes, "0 for events of tokens."),
        .required("state", \.state, as: .choice(["acknowledged", "waiting"])),
        .optional("postedAtMs", \.postedAt, "The latest post that the receiver accepted."),
        .optional("acknowledgedAtMs", \.acknowledgedAt),
    ]
}
