package import Foundation

/// A recipient of a notification.
package struct RecipientKey: Hashable, Sendable {
    package var notification: UUID
    package var recipient: Int64

    package init(notification: UUID, recipient: Int64) {
        (self.notification, self.recipient) = (notification, recipient)
    }
}
