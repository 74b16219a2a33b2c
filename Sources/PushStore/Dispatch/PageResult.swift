package import Foundation
package import ProviderModel
package import PushTypes

/// The results of one page of recipients, committed in one transaction.
package struct PageResult: Hashable, Sendable {
    package var notificationNumber: Int64
    /// The fencing number of the lease under which the page was sent. With `nil` only ``pauses`` is written.
    package var fence: Int64?
    /// The recipients that were sent to; `nil` if none was.
    package var snapshot: PageSnapshot?
    package var deliveries: [DeliveryResult] = []
    /// The recipients whose devices were removed. The commit skips them, or queues them for an attempt at once if the
    /// device has returned meanwhile.
    package var removed: [ReportedDelivery] = []
    /// The recipients that get their final state before the others are sent to, unless they already have a state. They
    /// occur only under the guarantee `atMostOnce`.
    package var endings: [ReportedDelivery] = []
    package var retries: [RetryResult] = []
    package var tokenChanges: [TokenStateChange] = []
    /// The named tokens that the responses have proven invalid, registered or not.
    package var invalidTokens: [InvalidNamedToken] = []
    /// `true` if the content of the notification is not needed any more, because its only token was rejected and is not
    /// registered.
    package var forgetsContent = false
    /// The progress through the shard; `nil` for a page of retries.
    package var step: ShardStep?
    /// The earliest time of the notification's next page, regardless of the shard.
    package var nextPageAt: Timestamp?
    /// The progress of the current wave after this page.
    package var wave: WaveProgress?
    /// The reason for which the commit pauses the notification; `nil` leaves its state as it is.
    package var pauses: String?
    /// The requests to pause environments whose faults the page's outcomes have proven.
    package var environmentPauses: [EnvironmentPauseRequest] = []
    /// The events for webhooks: JSON values with commas between them.
    package var events: Data?
    /// The times of the page if it was sent; `nil` to record nothing about it.
    package var times: PageTimes?
    /// The connections that carried the page's pushes.
    package var connections: [OpenedConnection] = []

    package init(notificationNumber: Int64, fence: Int64? = nil) {
        (self.notificationNumber, self.fence) = (notificationNumber, fence)
    }

    /// Creates the result of a page of a shard.
    package init(_ claim: ShardClaim) { self.init(notificationNumber: claim.notificationNumber, fence: claim.fence) }

    /// Creates the result of a page of retries, which ends their lease.
    package init(_ claim: RetryClaim) { self.init(notificationNumber: claim.notificationNumber, fence: claim.fence) }
}

/// The recipients of a page as they were read.
package struct PageSnapshot: Hashable, Sendable {
    package var recipients: [Recipient]
    /// The reading of the registration clock when the recipients were read.
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
    /// The transmission of the last push; `nil` if it is not known.
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
    /// The environment of the next attempt; `nil` for the recipient's own.
    package var environment: PushEnvironment?
    package var attempts: Int
    package var dueAt: Timestamp
    /// The environment whose pause holds the recipient back until ``dueAt``. When the pause ends, the recipient is due
    /// at once.
    package var heldFor: PushEnvironment?
    /// See ``Recipient/mayHaveArrived``.
    package var mayHaveArrived = false
    /// The attempt that led to the retry; `nil` if there was none.
    package var attempt: AttemptResult?

    /// Returns a recipient that waits until all shards have been read, or until its device returns.
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
    /// The due time of a recipient that waits until all shards have been read. The store replaces it at that moment.
    package static let afterShards = Timestamp(milliseconds: .max)
}

/// A final state with its event for webhooks. The commit writes both or neither.
package struct ReportedDelivery: Hashable, Sendable {
    package var delivery: DeliveryResult
    /// The event for webhooks: one JSON value.
    package var event: Data?

    package init(_ delivery: DeliveryResult, event: Data?) { (self.delivery, self.event) = (delivery, event) }
}

/// The progress of one page through its shard.
package struct ShardStep: Hashable, Sendable {
    package var shard: Int64
    /// The shard's cursor at the beginning of the page.
    package var from: Int64
    package var cursor: Int64
    /// Indicates whether the page is the last one of the shard.
    package var isLast: Bool
    /// The new end of the lease if the caller keeps the shard; `nil` releases the shard.
    package var leaseUntil: Timestamp?
    /// The earliest time of the shard's next page.
    package var notBefore: Timestamp?
    /// The environments whose pause holds the shard back until ``notBefore``. When the pause ends, the shard is due at
    /// once.
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
    /// The page is written, and the notification continues.
    case inProgress
    /// The page is written, and the notification has ended or is paused.
    case stopped
    /// Nothing is written: the lease was lost, or another page of the shard was already written under the lease.
    case leaseLost

    package var isInProgress: Bool { self == .inProgress }
}

/// The store's reply to the commit of a page that is about to be sent.
package struct StartedPage: Hashable, Sendable {
    package var result: CommitResult
    /// The recipients that the page may send to, because they had no state before.
    package var started: Set<Int64>
}
