import Foundation
import PushHTTP
import PushStore
import PushTypes

/// A webhook in a response.
struct WebhookResponse: Encodable {
    var id: String
    var app: String?
    var url: String
    var events: [String]
    var active: Bool
    /// Only in the response to its creation or rotation.
    var secret: String?
    /// The last block of events that was accepted.
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
            "block": .integer().described("The last block of events that was accepted."),
            "failures": .integer().described("The posts that failed since the last accepted one."),
            "createdAtMs": .timestamp,
        ],
        optional: [
            "app": .string(), "secret": .string().described("Only in the response to its creation or rotation."),
            "lastError": .string(), "nextTryAtMs": .timestamp, "lastSuccessAtMs": .timestamp,
        ]
    ).named("Webhook")
}
