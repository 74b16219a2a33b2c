package import Foundation
package import ProviderModel
package import PushTypes

/// A request to accept a notification, so that it is stored and sent.
package struct AcceptanceRequest: Sendable {
    private(set) var sharedNotification: SharedNotification
    package var notification: NotificationRecord {
        _read { yield self.sharedNotification.record }
        set { self.sharedNotification = SharedNotification(newValue) }
    }
    /// The plans for the sections of the audience. The list is empty for a notification that is opened later.
    package var shards: [ShardPlan]
    package var idempotency: Idempotency?
    /// The version that the schedule of the notification must have, or `nil` to skip the check. The notification is
    /// refused if its schedule has another version, is paused or does not exist.
    package var scheduleVersion: Int64?
    /// The issue that the notification announces, or `nil` if it announces none. The notification is accepted only if
    /// the issue is published. The notification's id is then stored with the issue.
    package var issue: UUID?
    /// The chat session whose messages the notification announces, or `nil` if it announces none. If the session no
    /// longer exists, the notification is refused.
    package var session: UUID?
    /// A Boolean value that indicates whether the caller is ready to send the notification immediately. If so,
    /// accepting it also leases the only shard to the caller, if the notification names tokens and the app is not
    /// stopped.
    package var isClaimed: Bool
    /// The time, by the later of the wall and steady clocks, at which the notification is opened, so that its shards
    /// may be claimed. It is used only for a notification that is opened when it is accepted.
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
    /// The shard that is leased to the caller as requested by ``AcceptanceRequest/isClaimed``, or `nil` if the caller
    /// has to claim the shards in a later call.
    package var claimed: ClaimedShard?

    package init(_ acceptance: Acceptance, claimed: ClaimedShard? = nil) {
        (self.acceptance, self.claimed) = (acceptance, claimed)
    }
}

/// A shard that was claimed when its notification was accepted, with its recipients.
package struct ClaimedShard: Hashable, Sendable {
    package var claim: ShardClaim
    /// The recipients of the shard, all in a single page.
    package var page: RecipientPage

    package init(_ claim: ShardClaim, _ page: RecipientPage) { (self.claim, self.page) = (claim, page) }
}

/// Acceptance requests and page results for one transaction of ``DispatchStore/write(_:now:leaseUntil:)``.
package struct LedgerBatch: Sendable {
    package var requests: [AcceptanceRequest]
    package var pages: [PageResult]

    package init(requests: [AcceptanceRequest] = [], pages: [PageResult] = []) {
        (self.requests, self.pages) = (requests, pages)
    }
}

/// The results of a ``LedgerBatch``, in the order of its requests and pages.
package struct LedgerBatchResult: Sendable {
    /// The response to each request, or the error of a request that failed without affecting the other requests.
    package var requests: [Result<AcceptanceResult, any Error>]
    package var pages: [CommitResult]

    package init(requests: [Result<AcceptanceResult, any Error>], pages: [CommitResult]) {
        (self.requests, self.pages) = (requests, pages)
    }
}
