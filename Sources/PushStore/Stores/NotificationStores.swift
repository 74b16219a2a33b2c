package import Foundation
package import ProviderModel
package import PushTypes

/// The store of notifications and of the states of their recipients, for the API.
package protocol NotificationStore: Sendable {
    /// Returns the response to a request whose idempotency key was used before: ``Acceptance/repeated(_:)``, or
    /// ``Acceptance/conflict`` if the key was used for a different request. Returns `nil` if the key is new.
    func accepted(_ idempotency: Idempotency, app: Int64) async throws -> Acceptance?
    /// Returns the notification with this id, or `nil` if there is none.
    /// - Throws: ``DamagedRow`` if the notification cannot be read.
    func notification(_ id: UUID) async throws -> NotificationRecord?
    /// Returns a notification and its counts, read in one snapshot, or `nil` if there is none.
    /// - Throws: ``DamagedRow`` if the notification cannot be read.
    func detail(of notification: UUID) async throws -> NotificationDetail?
    /// Returns a notification and the states of its recipients, read in one snapshot, or `nil` if there is none.
    /// - Parameter limit: The maximum number of deliveries, and the maximum number of devices.
    /// - Throws: ``DamagedRow`` if the notification cannot be read.
    func outcomes(of notification: UUID, limit: Int) async throws -> NotificationOutcomes?
    /// Returns a page of the notifications that match a filter, in the given order, without unreadable ones.
    /// - Parameter after: The position at which the previous page ended, or `nil` for the first page.
    func notifications(
        _ filter: NotificationFilter,
        sort: NotificationSort,
        after: ListPosition?,
        limit: Int
    ) async throws -> ListPage<NotificationRecord>
    /// Counts the notifications that match a filter. Above ``ListTotal/maximum``, the count is inexact.
    func totalNotifications(_ filter: NotificationFilter) async throws -> ListTotal
    /// Pauses, resumes or cancels a notification. The retries of a cancelled notification become due immediately, so
    /// that they get final states.
    /// - Returns: The notification, unchanged if its state does not allow the change, or `nil` if there is none.
    /// - Throws: ``DamagedRow`` if the notification cannot be read. It is paused or cancelled nevertheless.
    func setState(_ change: StateChange, of notification: UUID, now: Timestamp) async throws -> NotificationRecord?
    /// Returns a notification's deliveries in the order of their recipients.
    /// - Parameters:
    ///   - state: The state that the deliveries must have, or `nil` for any state.
    ///   - reason: The full text of the reason that the deliveries must have, or `nil` for any reason.
    ///   - after: The id of the last recipient on the previous page, or `nil` for the first page.
    func deliveries(
        of notification: UUID,
        state: DeliveryRecord.State?,
        reason: String?,
        after: Int64?,
        limit: Int
    ) async throws -> [DeliveryRecord]
    /// Returns the number of skipped recipients for each reason, highest first. Recipients that were skipped by
    /// versions of Martlet without these counts are not included.
    func skipCounts(of notification: UUID) async throws -> [SkipCount]
}

/// A change of a notification's state, requested by a person or by the dispatcher.
package enum StateChange: Hashable, Sendable {
    case pause(reason: String?)
    case resume, cancel
}

/// The history of deliveries, notifications, devices and users. Every query uses an index.
package protocol TimelineStore: Sendable {
    /// Returns the history of a recipient of a notification, or `nil` if the notification does not exist.
    func history(of notification: UUID, recipient: Int64) async throws -> DeliveryHistory?
    /// Returns the history of a notification, or `nil` if it does not exist.
    func history(of notification: UUID) async throws -> NotificationHistory?
    /// Returns the recipients of notifications in progress that wait for an attempt, newest first.
    /// - Parameters:
    ///   - device: The device, or `nil` for a token that belongs to no device.
    ///   - since: The time since which the device has belonged to its user. Recipients with an earlier attempt are left
    ///     out, because they belong to the former user. `nil` includes all recipients.
    func waiting(
        app: Int64,
        device: Int64?,
        token: DeviceToken,
        since: Timestamp?,
        limit: Int
    ) async throws -> [RecipientKey]
    /// Returns the notification whose id begins with a prefix, or `nil` if there is none.
    func notification(_ prefix: DeliveryPrefix) async throws -> NotificationRecord?
    /// Returns the delivery that the two parts of an `apns-id` identify, or `nil` if there is none.
    func delivery(of notificationPrefix: DeliveryPrefix, recipient: Int64) async throws -> DeliveryRecord?
    /// Returns the position of the oldest among the `campaigns` newest campaigns before `before` (of all, with `nil`),
    /// where a search for deliveries ends. With fewer campaigns, it returns `nil`.
    func horizon(app: Int64, before: NotificationCursor?, campaigns: Int) async throws -> NotificationCursor?
    /// Returns the periods in which devices belonged to a user: current ones, then ended ones, latest end first.
    func periods(app: Int64, user: String, limit: Int) async throws -> [UserPeriod]
    /// Returns a device's deliveries before `before`, back to `horizon`, newest first. A `nil` bound has no effect.
    /// - Parameter period: The device, and the period in which the deliveries must have been sent.
    func deliveries(
        app: Int64,
        period: UserPeriod,
        before: NotificationCursor?,
        horizon: NotificationCursor?,
        limit: Int
    ) async throws -> [DeliveryRecord]
    /// Returns an unregistered token's deliveries before `before`, back to `horizon`, newest first. A `nil` bound has
    /// no effect.
    /// - Parameter since: The time after which the deliveries must have been sent, or `nil` for any time.
    func deliveries(
        app: Int64,
        unregistered token: DeviceToken,
        since: Timestamp?,
        before: NotificationCursor?,
        horizon: NotificationCursor?,
        limit: Int
    ) async throws -> [DeliveryRecord]
}

/// The store of receipts, which report that notifications arrived or were opened.
package protocol ReceiptStore: Sendable {
    /// Stores receipts and updates their counters, all in one transaction.
    /// - Parameter announce: A function that encodes the webhook events for the accepted receipts of one app.
    /// - Returns: The results in the order of the batches and their entries, and whether webhook events were added.
    func addReceipts(
        _ batches: [ReceiptBatch],
        now: Timestamp,
        announce: @escaping @Sendable ([NewReceipt]) -> Data
    ) async throws -> (results: [[ReceiptResult]], hasEvents: Bool)
    /// Returns the number of a notification's receipts for each event and action.
    func receiptCounts(of notification: UUID) async throws -> [ReceiptCount]
    /// Returns a page of a notification's receipts. Receipts of the same installation are consecutive.
    /// - Parameters:
    ///   - place: The position of the last receipt on the previous page, or `nil` for the first page.
    ///   - limit: The maximum number of receipts.
    func receipts(of notification: UUID, after place: ReceiptPlace?, limit: Int) async throws -> ReceiptPage
    /// Returns the cursor up to which the events of a gateway have been read, or `nil` before they were first read.
    func gatewayCursor(_ address: String) async throws -> GatewayCursor?
    /// Stores the cursor up to which the events of a gateway have been read.
    func setGatewayCursor(_ cursor: GatewayCursor, of address: String) async throws
}

/// The store of the counters from which charts are drawn.
package protocol StatisticsStore: Sendable {
    /// Writes the counters that have accumulated in memory, so that charts include them. Counters that have not been
    /// written are lost if the process is killed.
    func writeStatistics() async throws
    /// Returns the sums over the apps for each interval of a range, in order. Intervals without counts are left out.
    /// - Parameters:
    ///   - from: The start of the first interval.
    ///   - to: The end of the range, exclusive.
    ///   - step: The length of an interval.
    func statistics(apps: [Int64], from: Timestamp, to: Timestamp, step: StatisticStep) async throws -> [StatisticPoint]
    /// Returns the most frequent reasons for which recipients in a range of times were not accepted.
    func topReasons(apps: [Int64], from: Timestamp, to: Timestamp, limit: Int) async throws -> [ReasonCount]
}
