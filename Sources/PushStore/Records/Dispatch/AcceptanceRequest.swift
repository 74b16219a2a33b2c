package import Foundation
package import PushTypes

/// A notification that is to be accepted.
package struct AcceptanceRequest: Sendable {
    private(set) var sharedNotification: SharedNotification
    package var notification: NotificationRecord {
        _read { yield self.sharedNotification.record }
        set { self.sharedNotification = SharedNotification(newValue) }
    }
    /// The parts of its audience; empty for a notification that is opened later.
    package var shards: [ShardPlan]
    package var idempotency: Idempotency?
    /// The version of the schedule that it is a run of. It is accepted only if the schedule still exists, is not paused
    /// and has this version. `nil` skips that check.
    package var scheduleVersion: Int64?
    /// The issue that it notifies of: it is accepted only if that is published, and is the issue's notification then. `nil` for
    /// any other.
    package var issue: UUID?
    /// The session at a chat server whose messages it tells of: it is accepted only while that has a record. `nil` for any other.
    package var session: UUID?
    /// Indicates whether the caller sends it at once. Its shard is claimed as it is added then, if it is the only one, of
    /// named tokens, and the app is not stopped.
    package var isClaimed: Bool
    /// The time at which it is opened, unless that is later, by the later clock.
    package var openedAt: Timestamp

    package init(
        _ notification: NotificationRecord,
        shards: [ShardPlan],
        idempotency: Idempotency? = nil,
        scheduleVersion: Int64? = nil,
        issue: UUID? = nil,
        session: UUID? = nil,
        isClaimed: Bool = false,
        openedAt: Timestamp? = nil
    ) {
        self.sharedNotification = SharedNotification(notification)
        (self.shards, self.idempotency) = (shards, idempotency)
        (self.scheduleVersion, self.issue, self.session) = (scheduleVersion, issue, session)
        self.isClaimed = isClaimed
        self.openedAt = openedAt ?? notification.createdAt
    }
}

/// The store's response to a request to accept a notification.
package struct AcceptanceResult: Sendable {
    package var acceptance: Acceptance
    /// The shard that was claimed for the caller; `nil` leaves the notification to a later claim.
    package var claimed: ClaimedShard?

    package init(_ acceptance: Acceptance, claimed: ClaimedShard? = nil) {
        (self.acceptance, self.claimed) = (acceptance, claimed)
    }
}

/// A shard that was claimed when its notification was accepted, with its recipients.
package struct ClaimedShard: Hashable, Sendable {
    package var claim: ShardClaim
    /// The only page of the shard.
    package var page: RecipientPage

    package init(_ claim: ShardClaim, _ page: RecipientPage) { (self.claim, self.page) = (claim, page) }
}

/// Writes that share a transaction.
package struct LedgerBatch: Sendable {
    package var requests: [AcceptanceRequest]
    package var pages: [PageResult]

    package init(requests: [AcceptanceRequest] = [], pages: [PageResult] = []) {
        (self.requests, self.pages) = (requests, pages)
    }
}

/// The results of writes that shared a transaction, in their order.
package struct LedgerBatchResult: Sendable {
    /// The responses to the requests, or the errors of those that failed alone.
    package var requests: [Result<AcceptanceResult, any Error>]
    package var pages: [CommitResult]

    package init(requests: [Result<AcceptanceResult, any Error>], pages: [CommitResult]) {
        (self.requests, self.pages) = (requests, pages)
    }
}
