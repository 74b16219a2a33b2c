import PushHTTP
import PushStore
import PushTypes

/// A webhook in a response.
struct WebhookResponse: ResponseObject {
    let webhook: WebhookRecord
    /// The bundle id of the app; `nil` if the app was removed.
    let app: Topic?
    /// The secret, if this response shows it.
    var secret: String?

    private var events: [String] { self.webhook.events.map(\.rawValue).sorted() }

    static let schemaName: String? = "Webhook"
    static let members: [ResponseMember<Self>] = [
        .required("id", \.webhook.id),
        .optional("app", \.app),
        .required("url", \.webhook.url),
        .required("events", \.events),
        .required("active", \.webhook.isActive),
        .optional("secret", \.secret, "Only in the response to its creation or rotation."),
        .required("block", \.webhook.cursor, "The last block of events that was accepted."),
        .required("failures", \.webhook.failures, "The posts that failed since the last accepted one."),
        .optional("lastError", \.webhook.lastError),
        .optional("nextTryAtMs", \.webhook.nextTryAt),
        .optional("lastSuccessAtMs", \.webhook.lastSuccessAt),
        .required("createdAtMs", \.webhook.createdAt),
    ]
}
