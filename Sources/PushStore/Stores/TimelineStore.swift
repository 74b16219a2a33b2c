package import Foundation
package import PushTypes

/// The history of deliveries, notifications, devices and users, found by index.
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
    /// Returns the delivery that the parts of an `apns-id` name.
    func delivery(of notificationPrefix: DeliveryPrefix, recipient: Int64) async throws -> DeliveryRecord?
    /// Returns the oldest of the next `campaigns` campaigns before `before`; `nil` if there are no more than these.
    func horizon(app: Int64, before: NotificationCursor?, campaigns: Int) async throws -> NotificationCursor?
    /// Returns the times for which devices were a user's, the present ones first, then the latest.
    func periods(app: Int64, user: String, limit: Int) async throws -> [UserPeriod]
    /// Returns the deliveries of one device before `before` and not before `horizon`, the newest notification first.
    /// - Parameter period: The time in which they were sent.
    func deliveries(
        app: Int64,
        period: UserPeriod,
        before: NotificationCursor?,
        horizon: NotificationCursor?,
        limit: Int
    ) async throws -> [DeliveryRecord]
    /// Returns the deliveries of a token that is not registered, as those of a device.
    /// - Parameter since: The time after which they were sent; `nil` for any.
    func deliveries(
        app: Int64,
        unregistered token: DeviceToken,
        since: Timestamp?,
        before: NotificationCursor?,
        horizon: NotificationCursor?,
        limit: Int
    ) async throws -> [DeliveryRecord]
}
