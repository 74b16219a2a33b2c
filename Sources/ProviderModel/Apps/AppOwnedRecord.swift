package import Foundation

/// The id of a record that belongs to an app. Requests name such a record without its app, which has to be looked up.
package enum AppOwnedRecord: Hashable, Sendable {
    case notification(UUID)
    case schedule(UUID)
    case webhook(UUID)
    case publication(UUID)
    case issue(UUID)
    case upload(UUID)
    /// The notification whose id has this prefix, as the `apns-id`s of its pushes do.
    case delivery(DeliveryPrefix)
}
