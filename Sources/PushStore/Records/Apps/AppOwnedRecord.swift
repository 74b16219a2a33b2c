package import Foundation

/// A record of one app that has an id of its own, by which requests name it without its app.
package enum AppOwnedRecord: Hashable, Sendable {
    case notification(UUID)
    case schedule(UUID)
    case webhook(UUID)
    case publication(UUID)
    case issue(UUID)
    case upload(UUID)
    /// The notification of a delivery.
    case delivery(DeliveryPrefix)
}
