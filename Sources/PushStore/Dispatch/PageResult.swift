package import Foundation
package import ProviderModel
package import PushTypes

/// The results of one page of recipients, committed in one transaction.
package struct PageResult: Hashable, Sendable {
    package var notificationNumber: Int64
    /// The fencing number of the lease under which the page was sent, or `nil` if there is no lease. In that case, only
    /// ``pauses`` and ``environmentPauses`` are written.
    package var fence: Int64?
    /// The recipients to which the page was sent, or `nil` if it was sent to none.
    package var snapshot: PageSnapshot?
    package var deliveries: [DeliveryResult] = []
    /// The recipients whose devices were removed before the page was sent, with their final states. The commit writes
    /// the state, or queues the recipient for an immediate attempt if the device has been registered again meanwhile.
    package var removed: [ReportedDelivery] = []
    /// The final states that are written under the guarantee `atMostOnce` before the page is sent to its other
    /// recipients. A recipient that already has a state keeps it.
    package var endings: [ReportedDelivery] = []
    package var retries: [RetryResult] = []
    package var tokenChanges: [TokenStateChange] = []
    /// The named tokens that the push service's responses have shown to be invalid, registered or not.
    package var invalidTokens: [InvalidNamedToken] = []
    /// A Boolean value that indicates whether the commit deletes the content of the notification, which is no longer
    /// needed because its only token was rejected and is not registered.
    package var forgetsContent = false
    /// The progress of the shard after the page, or `nil` for a page of retries.
    package var step: ShardStep?
    /// The earliest time at which any shard of the notification may send its next page, or `nil` to leave it unchanged.
    package var nextPageAt: Timestamp?
    /// The progress of the current wave of a notification that is sent in waves, or `nil` to leave it unchanged.
    package var wave: WaveProgress?
    /// The reason for which the commit pauses the notification, or `nil` if the commit does not pause it.
    package var pauses: String?
    /// The requests to pause environments whose configuration faults the page's outcomes have proven.
    package var environmentPauses: [EnvironmentPauseRequest] = []
    /// The webhook events of the page as JSON values separated by commas, or `nil` if there are none.
    package var events: Data?
    /// The times of the page, which timelines show, or `nil` to record nothing about the page.
    package var times: PageTimes?
    /// The connections that carried the page's pushes. ``PushTrip/connection`` is an index in this array.
    package var connections: [OpenedConnection] = []

    package init(notificationNumber: Int64, fence: Int64? = nil) {
        (self.notificationNumber, self.fence) = (notificationNumber, fence)
    }

    package init(_ claim: ShardClaim) { self.init(notificationNumber: claim.notificationNumber, fence: claim.fence) }

    /// Creates the result of a page of retries. Its commit ends the lease under which the retries were claimed.
    package init(_ claim: RetryClaim) { self.init(notificationNumber: claim.notificationNumber, fence: claim.fence) }
}

/// The recipients of a page as they were read from the database before the sending.
package struct PageSnapshot: Hashable, Sendable {
    package var recipients: [Recipient]
    /// The value of the registration clock, a counter of device changes, at the time of the read.
    package var clock: Int64

    package init(_ recipients: [Recipient], clock: Int64) { (self.recipients, self.clock) = (recipients, clock) }
}

/// The state of a recipient that the commit of a page writes.
package struct DeliveryResult: Hashable, Sendable {
    package var recipient: Int64
    package var device: Int64?
    package var state: DeliveryRecord.State
    package var reason: String?
    package var attempts: Int
    package var at: Timestamp
    /// The connection and the duration of the last push, or `nil` if they are unknown.
    package var trip: PushTrip?

    package init(
        recipient: Int64,
        device: Int64?,
        state: DeliveryRecord.State,
        reason: String? = nil,
        attempts: Int,
        at: Timestamp
    ) {
        (self.recipient, self.device, self.state) = (recipient, device, state)
        (self.reason, self.attempts, self.at) = (reason, attempts, at)
    }
}

/// A recipient that is queued for a later attempt.
package struct RetryResult: Hashable, Sendable {
    package var recipient: Int64
    /// The environment of the next attempt, or `nil` for the environment in which the recipient is registered.
    package var environment: PushEnvironment?
    package var attempts: Int
    package var dueAt: Timestamp
    /// The environment whose pause delays the recipient until ``dueAt``, or `nil` if no pause does. The recipient
    /// becomes due immediately when the pause ends.
    package var heldFor: PushEnvironment?
    /// A Boolean value that indicates whether an earlier push may have arrived (``Recipient/mayHaveArrived``).
    package var mayHaveArrived = false
    /// The attempt that led to the retry, or `nil` if no attempt was made.
    package var attempt: AttemptResult?

    /// Creates a retry that waits until all shards have been read, or until the removed device registers again.
    package static func held(_ recipient: Int64) -> RetryResult {
        RetryResult(recipient: recipient, attempts: 0, dueAt: .afterShards)
    }

    package init(
        recipient: Int64,
        environment: PushEnvironment? = nil,
        attempts: Int,
        dueAt: Timestamp,
        heldFor: PushEnvironment? = nil
    ) {
        (self.recipient, self.environment, self.attempts, self.dueAt) = (recipient, environment, attempts, dueAt)
        self.heldFor = heldFor
    }
}

extension Timestamp {
    /// The placeholder due time of a recipient that waits until all shards have been read. The store then replaces it.
    package static let afterShards = Timestamp(milliseconds: .max)
}

/// A final state together with its webhook event. The commit writes both of them or neither.
package struct ReportedDelivery: Hashable, Sendable {
    package var delivery: DeliveryResult
    /// The webhook event as one JSON value, or `nil` if no event is to be written.
    package var event: Data?

    package init(_ delivery: DeliveryResult, event: Data?) { (self.delivery, self.event) = (delivery, event) }
}

/// The progress that one page makes in its shard.
package struct ShardStep: Hashable, Sendable {
    package var shard: Int64
    /// The shard's cursor when the page was read. The page is committed only if the shard still has this cursor.
    package var from: Int64
    package var cursor: Int64
    package var isLast: Bool
    /// The new expiry time of the lease if the caller keeps the shard, or `nil` to release the shard.
    package var leaseUntil: Timestamp?
    /// The earliest time of the shard's next page, or `nil` to leave it unchanged.
    package var notBefore: Timestamp?
    /// The environments whose pause delays the shard until ``notBefore``, or `nil` if no pause does. The end of the
    /// pause makes the shard due.
    package var heldFor: HoldingEnvironments?

    package init(
        _ claim: ShardClaim,
        cursor: Int64,
        isLast: Bool,
        leaseUntil: Timestamp?,
        notBefore: Timestamp? = nil
    ) {
        self.shard = claim.shard
        self.from = claim.cursor
        (self.cursor, self.isLast, self.leaseUntil, self.notBefore) = (cursor, isLast, leaseUntil, notBefore)
    }
}

/// The store's reply to the commit of a page.
package enum CommitResult: Hashable, Sendable {
    /// The result for a page that was written and whose notification is still being sent.
    case inProgress
    /// The result for a page that was written and after which no other follows, because the notification is finished,
    /// paused or cancelled, or because its app is stopped.
    case stopped
    /// The result if nothing was written, because the lease was lost or already used to write another page.
    case leaseLost

    package var isInProgress: Bool { self == .inProgress }
}

/// The store's reply to ``DispatchStore/begin(_:now:)``, which records that a page is about to be sent.
package struct StartedPage: Hashable, Sendable {
    package var result: CommitResult
    /// The ids of the recipients whose states the call wrote, because they had none. The page is sent only to these.
    package var started: Set<Int64>
}
