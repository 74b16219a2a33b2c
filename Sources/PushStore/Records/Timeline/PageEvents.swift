package import Foundation
package import PushTypes

/// The events of a page and their posts.
package struct PageEvents: Hashable, Sendable {
    package var at: Timestamp
    /// The first post of each webhook that had them.
    package var posts: [WebhookPostRecord]
    /// The addresses of active webhooks that want them and have not acknowledged them.
    package var waiting: [String]
}

/// A post of events to a webhook that was acknowledged.
package struct WebhookPostRecord: Hashable, Sendable {
    package var webhook: UUID
    package var url: String
    package var postedAt, acknowledgedAt: Timestamp
}
