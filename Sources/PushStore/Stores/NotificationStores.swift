package import Foundation
package import ProviderModel
package import PushTypes

/// The notifications and the states of their recipients, as the API shows them.
package protocol NotificationStore: Sendable {
    /// Returns the result for a request whose idempotency key was used before: ``Acceptance/repeated(_:)``, or
    /// ``Acceptance/conflict`` if the key was used for another request. `nil` if the key is new.
    func accepted(_ idempotency: Idempotency, app: Int64) async throws -> Acceptance?
    /// Returns a notification; `nil` if there is none.
    /// - Throws: ``DamagedRow`` if it cannot be read.
    func notification(_ id: UUID) async throws -> NotificationRecord?
    /// Returns a notification and its counts, read in one snapshot; `nil` if there is none.
    /// - Throws: ``DamagedRow`` if it cannot be read.
    func detail(of notification: UUID) async throws -> NotificationDetail?
    /// Returns a notification and the states of its recipients, read in one snapshot; `nil` if there is none.
    /// - Parameter limit: The maximum number of deliveries, and of devices.
    /// - Throws: ``DamagedRow`` if it cannot be read.
    func outcomes(of notification: UUID, limit: Int) async throws -> NotificationOutcomes?
    /// Returns a page of the notifications that match a filter, in an order. Notifications that cannot be read are left out.
    func notifications(
        _ filter: NotificationFilter,
        sort: NotificationSort,
        after: ListPosition?,
        limit: Int
    ) async throws -> ListPage<NotificationRecord>
    /// Counts the notifications that match a filter, up to ``ListTotal/maximum``.
    func totalNotifications(_ filter: NotificationFilter) async throws -> ListTotal
    /// Pauses, resumes or cancels a notification. The retries of a cancelled notification become due at once, so that they end.
    /// - Returns: The notification, unchanged if its state does not allow the change; `nil` if there is none.
    /// - Throws: ``DamagedRow`` if the notification cannot be read. It is paused or cancelled all the same.
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
    /// Returns the numbers of skipped recipients for each reason, largest first. Recipients that earlier versions of Martlet
    /// skipped are not counted.
    func skipCounts(of notification: UUID) async throws -> [SkipCount]
}

/// A change of a notification's state by a person or by the dispatcher.
package enum StateChange: Hashable, Sendable {
    case pause(reason: String?)
    case resume, cancel
}

/// The history of deliveries, notifications, devices and users, found by index.
package protocol TimelineStore: Sendable {
    /// Returns the history of a recipient of a notification; `nil` if the notification does not exist.
    func history(of notification: UUID, recipient: Int64) async throws -> DeliveryHistory?
    /// Returns the history of a notification; `nil` if it does not exist.
    func history(of notification: UUID) async throws -> NotificationHistory?
    /// Returns recipients of notifications in progress that wait for an attempt, newest first.
    /// - Parameters:
    ///   - device: The device; `nil` for a token without one.
    ///   - since: The time since which the device belongs to its user. Recipients with an earlier attempt belong to
    ///     the former user, and are left out. `nil` for all.
    func waiting(
        app: Int64,
        device: Int64?,
        token: DeviceToken,
        since: Timestamp?,
        limit: Int
    ) async throws -> [RecipientKey]
    /// Returns the notification with a prefix; `nil` if there is none.
    func notification(_ prefix: DeliveryPrefix) async throws -> NotificationRecord?
    /// Returns the delivery that an `apns-id` identifies, by its two parts.
    func delivery(of notificationPrefix: DeliveryPrefix, recipient: Int64) async throws -> DeliveryRecord?
    /// Returns the place of the oldest of the next `campaigns` campaigns before `before`; `nil` if there are no more
    /// campaigns than these.
    func horizon(app: Int64, before: NotificationCursor?, campaigns: Int) async throws -> NotificationCursor?
    /// Returns the periods in which devices belonged to a user: the current ones first, then the latest.
    func periods(app: Int64, user: String, limit: Int) async throws -> [UserPeriod]
    /// Returns the deliveries of one device before `before` and not before `horizon`, newest notification first.
    /// - Parameter period: The period in which the deliveries were sent.
    func deliveries(
        app: Int64,
        period: UserPeriod,
        before: NotificationCursor?,
        horizon: NotificationCursor?,
        limit: Int
    ) async throws -> [DeliveryRecord]
    /// Returns the deliveries of a token that is not registered, otherwise like the method for the deliveries of a
    /// device.
    /// - Parameter since: The time after which the deliveries were sent; `nil` for any.
    func deliveries(
        app: Int64,
        unregistered token: DeviceToken,
        since: Timestamp?,
        before: NotificationCursor?,
        horizon: NotificationCursor?,
        limit: Int
    ) async throws -> [DeliveryRecord]
}

/// The receipts of notifications.
package protocol ReceiptStore: Sendable {
    /// Writes receipts with their counters, all in one transaction.
    /// - Parameter announce: Encodes the events for webhooks from the accepted receipts of one app.
    /// - Returns: The results in the order of the batches and their entries, and whether events were added.
    func addReceipts(
        _ batches: [ReceiptBatch],
        now: Timestamp,
        announce: @Sendable ([NewReceipt]) -> Data
    ) async throws -> (results: [[ReceiptResult]], hasEvents: Bool)
    /// Returns the numbers of receipts of a notification, by event and action.
    func receiptCounts(of notification: UUID) async throws -> [ReceiptCount]
    /// Returns the receipts of a notification after a place. Receipts of one installation are consecutive.
    /// - Parameters:
    ///   - place: The place of the last receipt of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of receipts.
    func receipts(of notification: UUID, after place: ReceiptPlace?, limit: Int) async throws -> ReceiptPage
    /// Returns the place up to which the events of a gateway have been read; `nil` before the first reading.
    func gatewayCursor(_ address: String) async throws -> GatewayCursor?
    /// Writes the place up to which the events of a gateway have been read.
    func setGatewayCursor(_ cursor: GatewayCursor, of address: String) async throws
}

/// The counters of charts.
package protocol StatisticsStore: Sendable {
    /// Writes the counters that have accumulated in memory, which charts show from then on. A process that is killed before
    /// loses them.
    func writeStatistics() async throws
    /// Returns the sums over some apps for the intervals of a range, in their order. Intervals without counts are left out.
    /// - Parameters:
    ///   - from: The beginning of the first interval.
    ///   - to: The exclusive end of the range.
    func statistics(apps: [Int64], from: Timestamp, to: Timestamp, step: StatisticStep) async throws -> [StatisticPoint]
    /// Returns the most frequent reasons of recipients that were not accepted in a range.
    func topReasons(apps: [Int64], from: Timestamp, to: Timestamp, limit: Int) async throws -> [ReasonCount]
}
