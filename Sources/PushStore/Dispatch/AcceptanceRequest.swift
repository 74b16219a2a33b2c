package import Foundation
package import ProviderModel
package import PushTypes

/// A notification that is to be accepted.
package struct AcceptanceRequest: Sendable {
    private(set) var sharedNotification: SharedNotification
    package var notification: NotificationRecord {
        _read { yield self.sharedNotification.record }
        set { self.sharedNotification = SharedNotification(newValue) }
    }
    /// The shards of the notification's audience; empty for a notification that is opened later.
    package var shards: [ShardPlan]
    package var idempotency: Idempotency?
    /// The version of the schedule that created the notification. The notification is accepted only if the schedule
    /// exists, is not paused and has this version. `nil` skips that check.
    package var scheduleVersion: Int64?
    /// The issue that the notification announces. The notification is accepted only if the issue is published, and
    /// becomes the issue's notification. `nil` for any other notification.
    package var issue: UUID?
    /// The chat session whose messages the notification announces. The notification is accepted only while the session
    /// has a record. `nil` for any other notification.
    package var session: UUID?
    /// Indicates whether the caller will send the notification at once. Its shard is claimed in the transaction of the
    /// acceptance if it is the only one and has named tokens, and the app is not stopped.
    package var isClaimed: Bool
    /// The time of the notification's opening by the later clock, if it is opened as it is accepted.
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

/// Acceptance requests and page results that are written in one transaction.
package struct LedgerBatch: Sendable {
    package var requests: [AcceptanceRequest]
    package var pages: [PageResult]

    package init(requests: [AcceptanceRequest] = [], pages: [PageResult] = []) {
        (self.requests, self.pages) = (requests, pages)
    }
}

/// The results of a ``LedgerBatch``, in the order of its requests and pages.
package struct LedgerBatchResult: Sendable {
    /// The responses to the requests, or the errors of requests that failed without failing the others.
    package var requests: [Result<AcceptanceResult, any Error>]
    package var pages: [CommitResult]

    package init(requests: [Result<AcceptanceResult, any Error>], pages: [CommitResult]) {
        (self.requests, self.pages) = (requests, pages)
    }
}
