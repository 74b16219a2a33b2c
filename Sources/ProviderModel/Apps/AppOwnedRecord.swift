package import Foundation

/// The id of a record that belongs to an app. Requests name such a record without its app.
package enum AppOwnedRecord: Hashable, Sendable {
    case notification(UUID)
    case schedule(UUID)
    case webhook(UUID)
    case publication(UUID)
    case issue(UUID)
    case upload(UUID)
    /// The notification that a delivery belongs to.
    case delivery(DeliveryPrefix)
}
