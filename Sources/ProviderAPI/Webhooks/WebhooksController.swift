package import Foundation
import Hummingbird
package import ProviderModel
package import PushHTTP
package import PushProvider
import PushStore
import PushSupport
package import PushTypes

/// The operations at `/v1/webhooks`, which manage the URLs to which events are sent.
struct WebhooksController: Controller {
    let store: any AppStore & WebhookStore
    let addresses: AddressPolicy
    /// The signal that wakes the service that delivers webhook events.
    let wake: WakeSignal
    /// The closure that aborts the request in flight to the webhook with the given id, before a change of the webhook
    /// is confirmed.
    let interrupt: @Sendable (UUID) async -> Void
    /// The closure that sends a test event of an app to a webhook, and returns the result.
    let postTest: @Sendable (WebhookRecord, Topic) async -> WebhookTestResult
    let time: any TimeSource

    var operations: [ProviderOperation] {
        let (shown, maximum) = (ResponseDescription.ok(WebhookResponse.schema), 16 * 1024)
        let (all, one) = ("/v1/apps/{app}/webhooks", "/v1/webhooks/{webhook}")
        let operations: [ProviderOperation] = [
            .init(.post, all, .audited, id: "addWebhook", "Adds a webhook, with its secret.", self.add)
                .body(WebhookRequest.addition.schema, maximum: maximum)
                .responses(.created(WebhookResponse.schema)).errors(.conflict),
            .init(.get, all, id: "listWebhooks", "The app's webhooks.", self.list)
                .responses(.ok(.list("webhooks", of: WebhookResponse.schema))),
            .init(.get, one, id: "showWebhook", "One webhook.", self.show).responses(shown),
            .init(.patch, one, .audited, id: "changeWebhook", "Changes a webhook.", self.change)
                .body(WebhookRequest.change.schema, maximum: maximum).responses(shown),
            .init(.delete, one, .audited, id: "deleteWebhook", "Removes a webhook.", self.delete).responses(.noContent),
            .init(.post, "\(one):rotate", .audited, id: "rotateSecret", "Adds a secret.", self.rotate).responses(shown),
            .init(.post, "\(one):finish-rotation", .audited, id: "finishRotation") {
                try await self.update($0) { $0.signing = .newest }
            }
            .summary("Signs with the newest secret only.").responses(shown),
            .init(.post, "\(one):replay", .audited, id: "replayWebhook", self.replay)
                .summary("Posts events again, from a time or a block on.")
                .body(WebhookRequest.replay.schema, maximum: maximum).responses(shown),
            .init(.post, "\(one):test", .audited, id: "testWebhook", self.test)
                .summary("Posts a test event at once, and returns what the receiver responds.")
                .responses(.ok(WebhookTestResult.schema)),
            .init(.post, "\(one):enable", .audited, id: "enableWebhook") {
                try await self.update($0) { $0.isEnabled = true }
            }
            .summary("Continues a webhook that was disabled after failures.").responses(shown),
        ]
        return operations.map { $0.tag(.webhooks).scope(.operate) }
    }

    /// The maximum number of webhooks of an app. Adding more is rejected.
    private static let maximum = 50

    /// Adds a webhook with a new secret, which only this response shows.
    ///
    /// The address is checked now and again before each delivery, because names may resolve to other addresses later.
    private func add(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(WebhookRequest.addition)
        let url = try fields.required(Member.url)
        let webhook = WebhookRecord(
            id: UUID(),
            app: app.id,
            url: try WebhookAddress(url, policy: self.addresses).url,
            secret: WebhookSecret.make(),
            events: try fields.value(WebhookRequest.events) ?? WebhookRecord.Event.standard,
            createdAt: self.time.now
        )
        guard try await self.store.addWebhook(webhook, limit: Self.maximum) else {
            let message = "an app has at most \(Self.maximum) webhooks: remove some first"
            throw RequestError.conflict("too_many_webhooks", message)
        }
        request.made(webhook.id)
        self.wake.signal()
        let response = WebhookResponse(webhook: webhook, app: app.bundleID, secret: webhook.secret)
        return try .json(response, status: .created)
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let webhooks = try await self.store.webhooks(app: app.id)
        return try .page("webhooks", webhooks.map { WebhookResponse(webhook: $0, app: app.bundleID) })
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        try await self.response(try await self.webhook(request))
    }

    /// Changes the members that are in the body, and leaves the others.
    private func change(_ request: OperationRequest) async throws -> Response {
        let fields = try await request.fields(WebhookRequest.change)
        let url = try fields.value(Member.url).map { try WebhookAddress($0, policy: self.addresses).url }
        let (events, isActive) = (try fields.value(WebhookRequest.events), try fields.value(WebhookRequest.active))
        return try await self.update(request) { ($0.url, $0.events, $0.isActive) = (url, events, isActive) }
    }

    /// Removes a webhook. After the response, nothing more is sent to it.
    private func delete(_ request: OperationRequest) async throws -> Response {
        guard let id = request.uuid("webhook"), try await self.store.deleteWebhook(id) else {
            throw RequestError.noSuch("webhook")
        }
        await self.interrupt(id)
        return .noContent
    }

    /// Adds a second secret to a webhook. Deliveries are signed with both secrets until the rotation is finished.
    private func rotate(_ request: OperationRequest) async throws -> Response {
        let secret = WebhookSecret.make()
        return try await self.update(request, newSecret: secret) { $0.signing = .add(secret) }
    }

    /// Moves the webhook's position back to a time or a block of events, from which events are delivered again.
    private func replay(_ request: OperationRequest) async throws -> Response {
        let webhook = try await self.webhook(request)
        let fields = try await request.fields(WebhookRequest.replay)
        let start: WebhookReplay.Start
        switch (try fields.value(WebhookRequest.since), try fields.value(WebhookRequest.block)) {
        case (let since?, nil): start = .since(since)
        case (nil, let block?): start = .block(block)
        default: throw fields.error("since", "missing_field", "give either since or block")
        }
        guard let moved = try await WebhookReplay(store: self.store).start(webhook.id, from: start) else {
            throw RequestError.noSuch("webhook")
        }
        self.wake.signal()
        let warnings = DeprecatedTimes.warnings(in: .object(fields.members))
        return try await self.response(moved, warnings: warnings)
    }

    /// Sends a test event to the webhook. Responds with 200, whatever the receiver responds.
    private func test(_ request: OperationRequest) async throws -> Response {
        let webhook = try await self.webhook(request)
        guard let app = try await self.store.app(id: webhook.app) else { throw RequestError.noSuch("webhook") }
        return try .json(await self.postTest(webhook, app.bundleID))
    }

    /// Changes a webhook by calling `set` in one transaction, so that neither a delivery nor another request reverts
    /// the change.
    /// - Parameter newSecret: A new secret, which the response shows; `nil` to show none.
    private func update(
        _ request: OperationRequest,
        newSecret: String? = nil,
        _ set: (inout WebhookChange) -> Void
    ) async throws -> Response {
        var change = WebhookChange()
        set(&change)
        let webhook = try await request.object("webhook") { try await self.store.changeWebhook($0, change) }
        await self.interrupt(webhook.id)
        self.wake.signal()
        return try await self.response(webhook, secret: newSecret)
    }

    private func webhook(_ request: OperationRequest) async throws -> WebhookRecord {
        try await request.object("webhook") { try await self.store.webhook($0) }
    }

    /// Returns the response for a webhook.
    /// - Parameter secret: A new secret, which the response shows; `nil` to show none.
    private func response(
        _ webhook: WebhookRecord,
        secret: String? = nil,
        warnings: [ContentWarning] = []
    ) async throws -> Response {
        let app = try await self.store.app(id: webhook.app)
        var response = WebhookResponse(webhook: webhook, app: app?.bundleID, secret: secret)
        response.warnings = warnings.isEmpty ? nil : warnings
        return try .json(response)
    }
}

/// The response object for a webhook, with the state of its deliveries.
package struct WebhookResponse: ResponseObject {
    let webhook: WebhookRecord
    /// The bundle id of the app, or `nil` if the app was removed.
    package let app: Topic?
    /// The secret; `nil` except in the response to its creation or rotation.
    package var secret: String?
    /// The warnings about the request; `nil` if there are none.
    var warnings: [ContentWarning]?

    package var id: UUID { self.webhook.id }
    package var url: String { self.webhook.url }
    package var events: [String] { self.webhook.events.map(\.rawValue).sorted() }
    package var isActive: Bool { self.webhook.isActive }
    package var failures: Int { self.webhook.failures }

    package static let schemaName: String? = "Webhook"
    package static let members: [ResponseMember<Self>] = [
        .required("id", \.id),
        .optional("app", \.app),
        .required("url", \.url),
        .required("events", \.events),
        .required("active", \.isActive),
        .optional("secret", \.secret, "Only in the response to its creation or rotation."),
        .required("block", \.webhook.cursor, "The last block of events that was accepted."),
        .required("failures", \.failures, "The posts that failed since the last accepted one."),
        .optional("lastError", \.webhook.lastError),
        .optional("nextTryAtMs", \.webhook.nextTryAt),
        .optional("lastSuccessAtMs", \.webhook.lastSuccessAt),
        .required("createdAtMs", \.webhook.createdAt),
        .optional("warnings", \.warnings),
    ]
}

extension WebhookTestResult: ResponseObject {
    package var isAccepted: Bool { self.error == nil }
    private var milliseconds: Int { Int(clamping: Int64((self.duration / .milliseconds(1)).rounded())) }

    package static let schemaName: String? = "WebhookTest"
    package static let members: [ResponseMember<Self>] = [
        .required("id", \.id, "The id of the post and of its event."),
        .required("accepted", \.isAccepted),
        .optional("status", \.status, "The receiver's HTTP status; absent without a response."),
        .optional("error", \.error, "The reason for which the post was not accepted."),
        .required("milliseconds", \.milliseconds, "The time until the response."),
    ]
}

/// The operation `GET /v1/webhooks/{webhook}/deliveries`, which lists the blocks of events for a webhook, newest first,
/// with their states.
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
