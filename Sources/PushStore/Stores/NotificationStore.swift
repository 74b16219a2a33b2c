package import Foundation
package import PushTypes

/// The ledger as the API shows it: notifications, and the final states of their recipients.
package protocol NotificationStore: Sendable {
    /// Returns the outcome of the earlier request with this key: ``Acceptance/repeated(_:)`` or, if that was another
    /// request, ``Acceptance/conflict``; `nil` if the key is new.
    func accepted(_ idempotency: Idempotency, app: Int64) async throws -> Acceptance?
    /// Returns a notification; `nil` if there is none.
    /// - Throws: ``DamagedRow`` if it cannot be read.
    func notification(_ id: UUID) async throws -> NotificationRecord?
    /// Returns a notification and the counts beside it, read at one moment; `nil` if there is none.
    /// - Throws: ``DamagedRow`` if it cannot be read.
    func detail(of notification: UUID) async throws -> NotificationDetail?
    /// Returns a notification and the states of its recipients, read at one moment; `nil` if there is none.
    /// - Parameter limit: The most deliveries, and the most devices.
    /// - Throws: ``DamagedRow`` if it cannot be read.
    func outcomes(of notification: UUID, limit: Int) async throws -> NotificationOutcomes?
    /// Returns a page of the notifications that a filter leaves, in an order. Those that cannot be read are left out.
    func notifications(
        _ filter: NotificationFilter,
        sort: NotificationSort,
        after: ListPosition?,
        limit: Int
    ) async throws -> ListPage<NotificationRecord>
    /// Counts the notifications that a filter leaves, up to ``ListTotal/maximum``.
    func totalNotifications(_ filter: NotificationFilter) async throws -> ListTotal
    /// Pauses, resumes or cancels a notification. The retries of a cancelled one are due at once, to be ended.
    /// - Returns: The notification, unchanged if its state does not allow the change; `nil` if there is none.
    /// - Throws: ``DamagedRow`` if it cannot be read. It is paused or cancelled all the same.
    func setState(_ change: StateChange, of notification: UUID, now: Timestamp) async throws -> NotificationRecord?
    /// Returns a notification's deliveries in the order of recipients, beginning after `after`.
    /// - Parameter reason: The whole text of the reason; `nil` for any.
    func deliveries(
        of notification: UUID,
        state: DeliveryRecord.State?,
        reason: String?,
        after: Int64?,
        limit: Int
    ) async throws -> [DeliveryRecord]
    /// Returns the numbers of skipped recipients for each reason, the largest first. Those that earlier versions of Martlet
    /// skipped are not among them.
    func skipCounts(of notification: UUID) async throws -> [SkipCount]
}

/// A change of a notification's state by a person or by the dispatcher.
package enum StateChange: Hashable, Sendable {
    case pause(reason: String?)
    case resume, cancel
}
