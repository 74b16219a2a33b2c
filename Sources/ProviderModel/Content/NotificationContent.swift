package import Foundation
package import PushTypes
import PushWire

/// The content of a notification, from the request to the rendering: request headers and payload (reference 1.5, 1.6).
package struct NotificationContent: Hashable, Sendable {
    package var topic: Topic
    package var pushType: PushType
    /// The kind of the recipients' tokens, or `nil` for any kind if a version without kinds accepted the notification.
    package var tokenKind: DeviceTokenKind?
    package var priority: Priority
    /// The expiration for all recipients, or ``Expiration/servicePolicy`` if ``expiresIn`` is set.
    package var expiration: Expiration
    /// The number of seconds from the start of each sending to its expiration, or `nil` if ``expiration`` applies.
    package var expiresIn: Int64?
    package var collapseID: String?
    /// The payload in JSON or, for a template, the text from which the payload of each recipient is rendered.
    package var payload: Data
    /// A Boolean value that indicates whether variables, localizations or badge counts make payloads differ.
    package var isTemplate: Bool
    /// The alert that Apple sees in place of encrypted content, as JSON text, or `nil` if the content is not encrypted.
    package var placeholder: Data?
    /// The level of detail of receipts that are reported and kept. Each payload names it, unless it is `none`.
    package var receipts: ReceiptLevel = .none

    package init(
        topic: Topic,
        pushType: PushType,
        tokenKind: DeviceTokenKind? = nil,
        priority: Priority,
        expiration: Expiration,
        collapseID: String?,
        payload: Data,
        isTemplate: Bool = false
    ) {
        (self.topic, self.pushType, self.tokenKind) = (topic, pushType, tokenKind)
        (self.priority, self.expiration) = (priority, expiration)
        (self.collapseID, self.payload, self.isTemplate) = (collapseID, payload, isTemplate)
    }

    /// A Boolean value that indicates whether the notification is for browsers.
    package var isWeb: Bool { self.tokenKind == .web }

    /// The maximum size of the payload, in bytes.
    package var maximumPayloadSize: Int { self.isWeb ? WebPushKeys.maximumContent : self.pushType.maximumPayloadSize }
}
