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

/// A place in a list of notifications. Only the store knows its meaning.
package struct NotificationCursor: Hashable, Sendable {
    package var number: Int64

    package init(number: Int64) { self.number = number }
}

/// A change of a notification's state by a person or by the dispatcher.
package enum StateChange: Hashable, Sendable {
    case pause(reason: String?)
    case resume, cancel
}

/// The first 60 free bits of a notification's id, with which its `apns-id`s begin. Unique in the store.
package struct DeliveryPrefix: Hashable, Sendable {
    package let bits: Int64

    package init(bits: Int64) { self.bits = bits }

    /// Returns the prefix of a notification.
    package init(of notification: UUID) {
        let bytes = notification.uuid
        let high = [bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        // The four bits between are the version of the UUID.
        self.bits = high << 12 | Int64(bytes.6 & 0x0f) << 8 | Int64(bytes.7)
    }
}
