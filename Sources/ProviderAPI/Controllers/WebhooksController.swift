import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// Where events are posted to.
struct WebhooksController: Controller {
    let store: any ProviderStore
    let addresses: AddressPolicy
    /// Of the delivery.
    let wake: WakeSignal
    /// Ends the post in flight to a webhook, before a change of it is answered.
    let interrupt: @Sendable (UUID) async -> Void
    let time: any TimeSource

    private static let url = Schema.string(length: 1...WebhookAddress.maximumLength)
    private static let events = Schema.array(of: .choice(WebhookRecord.Event.allCases.map(\.rawValue)), count: 1...2)

    var operations: [APIOperation] {
        let add = Schema.object(required: ["url": Self.url], optional: ["events": Self.events])
            .example(.texts(["url": "https://hooks.example.com/push"]))
        let change = Schema.object(optional: ["url": Self.url, "events": Self.events, "active": .bool])
        let replay = Schema.object(optional: ["since": .time, "block": .integer(1...Int64.max)])
            .described("One of both: a moment, or the first number in a post's id.")
        let answer = WebhookResponse.schema
        return [
            self.operation(
                .post,
                "/v1/apps/{app}/webhooks",
                "addWebhook",
                "Adds a webhook; its secret is in this answer only.",
                add,
                .created(answer),
                self.add
            ),
            self.operation(
                .get,
                "/v1/apps/{app}/webhooks",
                "listWebhooks",
                "The app's webhooks.",
                nil,
                .ok(.list("webhooks", of: answer)),
                self.list
            ),
            self.operation(.get, "/v1/webhooks/{webhook}", "showWebhook", "One webhook.", nil, .ok(answer)) {
                try await self.answer(try await self.webhook($0))
            },
            self.operation(
                .patch,
                "/v1/webhooks/{webhook}",
                "changeWebhook",
                "Changes URL or events, or switches it off.",
                change,
                .ok(answer),
                self.change
            ),
            self.operation(
                .delete,
                "/v1/webhooks/{webhook}",
                "deleteWebhook",
                "Forgets it.",
                nil,
                .noContent,
                self.delete
            ),
            self.operation(
                .post,
                "/v1/webhooks/{webhook}:rotate",
                "rotateSecret",
                "Signs with a new secret too, which is in this answer only.",
                nil,
                .ok(answer),
                self.rotate
            ),
            self.operation(
                .post,
                "/v1/webhooks/{webhook}:finish-rotation",
                "finishRotation",
                "Signs with the newest secret only.",
                nil,
                .ok(answer)
            ) { call in
                var change = WebhookChange()
                change.signing = .newest
                return try await self.update(call, change)
            },
            self.operation(
                .post,
                "/v1/webhooks/{webhook}:replay",
                "replayWebhook",
                "Tells it again from a moment or a block on.",
                replay,
                .ok(answer),
                self.replay
            ),
            self.operation(
                .post,
                "/v1/webhooks/{webhook}:enable",
                "enableWebhook",
                "Goes on from where it was given up.",
                nil,
                .ok(answer)
            ) { call in
                var change = WebhookChange()
                change.isEnabled = true
                return try await self.update(call, change)
            },
        ]
    }

    private func operation(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ id: String,
        _ summary: String,
        _ body: Schema?,
        _ answer: ResponseDescription,
        _ handler: @escaping APIOperation.Handler
    ) -> APIOperation {
        APIOperation(
            method: method,
            path: path,
            id: id,
            summary: summary,
            tag: .webhooks,
            scope: .admin,
            body: body.map { BodyDescription(schema: $0, maximum: 16 * 1024) },
            answers: [answer],
            isAudited: method != .get,
            handler: handler
        )
    }

    /// The most webhooks of an app.
    private static let maximum = 50

    private func add(_ call: OperationRequest) async throws -> Response {
        let app = try await call.app(self.store)
        let fields = try await call.fields(["url", "events"])
        let url = try fields.requiredString("url", maximum: WebhookAddress.maximumLength)
        let webhook = WebhookRecord(
            id: UUID(),
            app: app.id,
            url: try WebhookAddress(url, policy: self.addresses).url,
            secret: WebhookSecret.make(),
            events: try Self.events(fields) ?? Set(WebhookRecord.Event.allCases),
            createdAt: self.time.now
        )
        guard try await self.store.addWebhook(webhook, limit: Self.maximum) else {
            throw RequestError(
                .conflict,
                code: "too_many_webhooks",
                message: "an app has at most \(Self.maximum) webhooks: remove some first"
            )
        }
        self.wake.signal()
        return try JSONResponse.make(.created, WebhookResponse(webhook, app: app.bundleID, secret: webhook.secret))
    }

    private func list(_ call: OperationRequest) async throws -> Response {
        let app = try await call.app(self.store)
        let webhooks = try await self.store.webhooks(app: app.id)
        return try JSONResponse.make(.ok, ["webhooks": webhooks.map { WebhookResponse($0, app: app.bundleID) }])
    }

    private func change(_ call: OperationRequest) async throws -> Response {
        let fields = try await call.fields(["url", "events", "active"])
        let url = try fields.string("url", maximum: WebhookAddress.maximumLength)
        var change = WebhookChange()
        change.url = try url.map { try WebhookAddress($0, policy: self.addresses).url }
        change.events = try Self.events(fields)
        change.isActive = try fields.bool("active")
        return try await self.update(call, change)
    }

    private func delete(_ call: OperationRequest) async throws -> Response {
        guard let id = call.uuid("webhook"), try await self.store.deleteWebhook(id) else {
            throw RequestError.noSuch("webhook", "webhook")
        }
        await self.interrupt(id)
        return Response(status: .noContent)
    }

    private func rotate(_ call: OperationRequest) async throws -> Response {
        let new = WebhookSecret.make()
        var change = WebhookChange()
        change.signing = .add(new)
        return try await self.update(call, change, newSecret: new)
    }

    private func replay(_ call: OperationRequest) async throws -> Response {
        let webhook = try await self.webhook(call)
        let fields = try await call.fields(["since", "block"])
        let start: WebhookReplay.Start
        switch (try fields.timestamp("since"), try fields.integer("block", in: 1...Int64.max)) {
        case (let since?, nil): start = .since(since)
        case (nil, let block?): start = .block(block)
        default: throw fields.refusal("since", "missing_field", "give since or block, one of both")
        }
        guard let moved = try await WebhookReplay(store: self.store).start(webhook.id, from: start) else {
            throw RequestError.noSuch("webhook", "webhook")
        }
        self.wake.signal()
        return try await self.answer(moved)
    }

    /// In one transaction: neither a delivery nor another request undoes what is answered here.
    private func update(_ call: OperationRequest, _ change: WebhookChange, newSecret: String? = nil) async throws
        -> Response
    {
        guard let id = call.uuid("webhook"), let webhook = try await self.store.changeWebhook(id, change) else {
            throw RequestError.noSuch("webhook", "webhook")
        }
        await self.interrupt(id)
        self.wake.signal()
        return try await self.answer(webhook, secret: newSecret)
    }

    private func webhook(_ call: OperationRequest) async throws -> WebhookRecord {
        guard let id = call.uuid("webhook"), let webhook = try await self.store.webhook(id) else {
            throw RequestError.noSuch("webhook", "webhook")
        }
        return webhook
    }

    private func answer(_ webhook: WebhookRecord, secret: String? = nil) async throws -> Response {
        let app = try await self.store.app(id: webhook.app)
        return try JSONResponse.make(.ok, WebhookResponse(webhook, app: app?.bundleID, secret: secret))
    }

    private static func events(_ fields: JSONFields) throws -> Set<WebhookRecord.Event>? {
        guard let words = try fields.strings("events", count: 2, maximum: 32) else { return nil }
        let events = Set(words.compactMap(WebhookRecord.Event.init(rawValue:)))
        guard !events.isEmpty, events.count == Set(words).count else {
            throw fields.refusal("events", "invalid_value", "name delivery, token or both")
        }
        return events
    }
}

/// A webhook.
struct WebhookResponse: Encodable {
    var id: String
    var app: String?
    var url: String
    var events: [String]
    var active: Bool
    /// Only in the answer to its creation or rotation.
    var secret: String?
    /// The last block of events that was taken.
    var block: Int64
    var failures: Int
    var lastError: String?
    var nextTryAtMs: Int64?
    var lastSuccessAtMs: Int64?
    var createdAtMs: Int64

    init(_ webhook: WebhookRecord, app: Topic?, secret: String? = nil) {
        self.id = webhook.id.uuidString
        self.app = app?.name
        self.url = webhook.url
        self.events = webhook.events.map(\.rawValue).sorted()
        self.active = webhook.isActive
        self.secret = secret
        self.block = webhook.cursor
        self.failures = webhook.failures
        self.lastError = webhook.lastError
        self.nextTryAtMs = webhook.nextTryAt?.milliseconds
        self.lastSuccessAtMs = webhook.lastSuccessAt?.milliseconds
        self.createdAtMs = webhook.createdAt.milliseconds
    }

    static let schema = Schema.object(
        required: [
            "id": .uuid, "url": .string(), "events": .array(of: .string()), "active": .bool,
            "block": .integer().described("The last block of events that was taken."),
            "failures": .integer().described("Posts that failed since the last that was taken."),
            "createdAtMs": .moment,
        ],
        optional: [
            "app": .string(), "secret": .string().described("Only in the answer to its creation or rotation."),
            "lastError": .string(), "nextTryAtMs": .moment, "lastSuccessAtMs": .moment,
        ]
    ).named("Webhook")
}
