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

/// The receipts of notifications.
package protocol ReceiptStore: Sendable {
    /// Writes receipts with their counters, all in one transaction.
    /// - Parameter announce: Makes a block of events for webhooks from the receipts of one app that were accepted.
    /// - Returns: The results in the order of the batches and their entries, and whether events were added.
    func addReceipts(
        _ batches: [ReceiptBatch],
        now: Timestamp,
        announce: @Sendable ([NewReceipt]) -> Data
    ) async throws -> (results: [[ReceiptResult]], hasEvents: Bool)
    /// Returns the numbers of receipts of a notification, by event and action.
    func receiptCounts(of notification: UUID) async throws -> [ReceiptCount]
    /// Returns the receipts of a notification behind a place. Those of one installation follow each other.
    /// - Parameters:
    ///   - place: The place of the last one of the page before; `nil` at the beginning.
    ///   - limit: The most receipts.
    func receipts(of notification: UUID, after place: ReceiptPlace?, limit: Int) async throws -> ReceiptPage
    /// Returns the place up to which the events of a gateway have been read; `nil` before the first time.
    func gatewayCursor(_ address: String) async throws -> GatewayCursor?
    /// Writes the place up to which the events of a gateway have been read.
    func setGatewayCursor(_ cursor: GatewayCursor, of address: String) async throws
}

/// The counters of charts.
package protocol StatisticsStore: Sendable {
    /// Writes what was counted since the last time, which charts show then. A process that is killed before loses it.
    func writeStatistics() async throws
    /// Returns the intervals of a range in which something was counted, in their order, as sums over apps.
    /// - Parameters:
    ///   - from: The beginning of the first interval.
    ///   - to: The end of the last interval, which does not count.
    func statistics(
        apps: [Int64],
        from: Timestamp,
        to: Timestamp,
        step: StatisticStep
    ) async throws -> [StatisticPoint]
    /// Returns the most frequent reasons of what was not accepted in a range.
    func topReasons(apps: [Int64], from: Timestamp, to: Timestamp, limit: Int) async throws -> [ReasonCount]
}
