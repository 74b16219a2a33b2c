package import Foundation
package import PushTypes

/// The content of a notification, from the request to the rendering: request headers and payload (reference 1.5, 1.6).
package struct NotificationContent: Hashable, Sendable {
    package var topic: Topic
    package var pushType: PushType
    package var priority: Priority
    package var expiration: Expiration
    package var collapseID: String?
    /// The payload in JSON; for a template, the text from which the payload of each recipient is rendered.
    package var payload: Data
    /// `true` if the payload depends on the recipient.
    package var isTemplate: Bool

    package init(
        topic: Topic,
        pushType: PushType,
        priority: Priority,
        expiration: Expiration,
        collapseID: String?,
        payload: Data,
        isTemplate: Bool = false
    ) {
        (self.topic, self.pushType, self.priority, self.expiration) = (topic, pushType, priority, expiration)
        (self.collapseID, self.payload, self.isTemplate) = (collapseID, payload, isTemplate)
    }
}
