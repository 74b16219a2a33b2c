package import Foundation
package import PushTypes

/// The history of single deliveries and of notifications, found by index.
package protocol TimelineStore: Sendable {
    /// Returns the history of a recipient of a notification; `nil` if the notification does not exist.
    func history(of notification: UUID, recipient: Int64) async throws -> DeliveryHistory?
    /// Returns the history of a notification; `nil` if it does not exist.
    func history(of notification: UUID) async throws -> NotificationHistory?
    /// Returns recipients that wait for a try, of notifications in progress, the newest first.
    /// - Parameters:
    ///   - device: The device; `nil` for a token without one.
    ///   - since: The time from which the device is its user's: what was tried before is the former one's. `nil` for all.
    func waiting(
        app: Int64,
        device: Int64?,
        token: DeviceToken,
        since: Timestamp?,
        limit: Int
    ) async throws -> [RecipientKey]
    /// Returns the notification with a prefix; `nil` if there is none.
    func notification(_ prefix: DeliveryPrefix) async throws -> NotificationRecord?
}
