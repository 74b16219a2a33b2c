package import Foundation
package import ProviderModel
package import PushTypes

/// Checks and statistics of the store for operators.
package protocol MaintenanceStore: Sendable {
    /// Writes and deletes a row, to check that the store is writable.
    /// - Throws: ``StoreError/cannotWrite(why:)``.
    func checkWritable() async throws
    /// Pauses all notifications that have not ended and all schedules, including those that cannot be read.
    /// - Returns: The numbers of paused notifications and schedules.
    func pauseEverything(reason: String) async throws -> (notifications: Int, schedules: Int)
    /// Counts waiting work, for metrics. It is cheap enough to be called every few seconds.
    func statistics(now: Timestamp) async throws -> StoreBacklog
}

/// An environment of an app in which the circuit breaker is open.
package struct OpenBreaker: Hashable, Sendable {
    package var bundleID: Topic
    package var environment: PushEnvironment
}

/// The numbers of waiting work, for metrics.
package struct StoreBacklog: Hashable, Sendable {
    /// The numbers of notifications that have not ended, by their states.
    package var notifications: [NotificationRecord.State: Int] = [:]
    /// The number of recipients that wait for another attempt.
    package var retries = 0
    /// The earliest due time of a retry, which may be in the past.
    package var oldestRetryDueAt: Timestamp?
    /// The number of shards that are being sent.
    package var shardsLeased = 0
    package var shardsWaiting = 0, tokensDeactivated = 0
    /// The number of shards that may be sent now, or are being sent.
    package var shardsDue = 0
    /// The environments of apps whose circuit breaker is open.
    package var openBreakers: [OpenBreaker] = []
    /// The number of deactivations that wait for an operator's decision.
    package var tokensWithheld = 0
    /// The number of blocks of events that are outstanding for the webhook that is furthest behind.
    package var webhookBacklog = 0
    /// The time of the oldest block of events that is outstanding for any webhook, by the wall clock; `nil` for none.
    package var oldestWebhookBlockAt: Timestamp?
}

/// The data that is monitored: expiring certificates, changes of tokens, and campaigns.
package protocol MonitoringStore: Sendable {
    /// Returns the certificates of all apps, without signing keys and without those that cannot be read.
    func certificates() async throws -> [StoredCertificate]
    /// Records the announcement of a certificate's expiry and adds the event for webhooks, unless the certificate was
    /// replaced or a later stage was announced.
    /// - Parameters:
    ///   - stage: The maximum number of days that are left.
    ///   - event: The event, as ``EventBlock/events``.
    /// - Returns: `true` if the announcement was recorded.
    func announceEnd(of certificate: StoredCertificate, stage: Int, event: Data, now: Timestamp) async throws -> Bool
    /// Counts the token events with ids above `id`. If there are very many, it counts only the first of them.
    /// - Parameter id: The id of the last event that was counted; `nil` to count none and get the last id.
    func tokenEvents(after id: Int64?) async throws -> (counts: [TokenEventCount], last: Int64)
    /// Returns the states of the campaigns after `newest`, and of those in `open`.
    /// - Parameters:
    ///   - newest: The number of the newest notification that is known; `nil` for all campaigns that have not ended.
    ///   - limit: The maximum number of new campaigns, and of those in `open`.
    func campaigns(after newest: Int64?, and open: [Int64], limit: Int) async throws -> CampaignReading
}

/// The states of campaigns, read in one snapshot.
package struct CampaignReading: Hashable, Sendable {
    package var campaigns: [CampaignState]
    /// The number of the newest notification, of any kind.
    package var newest: Int64

    package init(_ campaigns: [CampaignState], newest: Int64) { (self.campaigns, self.newest) = (campaigns, newest) }
}

/// The state of a campaign.
package struct CampaignState: Hashable, Sendable {
    package var number: Int64
    package var id: UUID
    package var app: Int64
    package var state: NotificationRecord.State
    /// `true` once the first page of the campaign was sent.
    package var hasStarted: Bool

    package init(number: Int64, id: UUID, app: Int64, state: NotificationRecord.State, hasStarted: Bool) {
        (self.number, self.id, self.app, self.state, self.hasStarted) = (number, id, app, state, hasStarted)
    }
}

/// A certificate of an app.
package struct StoredCertificate: Hashable, Sendable {
    package var app: Int64
    package var bundleID: Topic
    package var environment: PushEnvironment
    package var credential: CredentialRecord
    /// The sealed secret, by which a replacement of the certificate is recognized.
    package var seal: Data
    /// The stage of the certificate's expiry that was announced last; `nil` for none.
    package var announcedStage: Int?
}

/// The number of changes of tokens with the same properties.
package struct TokenEventCount: Hashable, Sendable {
    /// The app's bundle id, or its number if the app does not exist any more.
    package var app: String
    package var environment: PushEnvironment
    package var action: TokenEventRecord.Action
    package var reason: String?
    package var count: Int
}

/// The deletion of records whose retention is over.
package protocol RetentionStore: Sendable {
    /// Deletes notifications that ended before this time, with their deliveries, and token events of that age.
    /// - Parameter limit: The maximum number of rows of one call, so that other writers do not wait long.
    /// - Returns: The number of rows; 0 when there is nothing left to delete.
    func forget(before: Timestamp, limit: Int) async throws -> Int
    /// Deletes connections that were opened before this time, except the newest ones, which may be open.
    /// - Parameter limit: The maximum number of rows of one call.
    /// - Returns: The number of rows; 0 when there is nothing left to delete.
    func forgetConnections(before: Timestamp, limit: Int) async throws -> Int
    /// Deletes entries of the audit log from before this time, `limit` at most.
    /// - Returns: The number of deleted entries.
    func forgetAudit(before: Timestamp, limit: Int) async throws -> Int
    /// Removes entries of feedback lists from before a time, which no provider has read.
    /// - Returns: The number of removed entries.
    func forgetLegacyTokens(before: Timestamp, limit: Int) async throws -> Int
    /// Adds the counters of charts that are too old for their step to those of the next step, and deletes the oldest days.
    /// - Returns: The number of rows of one transaction; 0 once nothing is left to do.
    func rollUpStatistics(now: Timestamp) async throws -> Int
    /// Deletes uses of caps that are too old to count, `limit` rows at most.
    /// - Parameter now: The time by the steady clock.
    /// - Returns: The number of deleted rows.
    func forgetCapUses(now: Timestamp, limit: Int) async throws -> Int
    /// Deletes the blocks of events for webhooks before this time.
    /// - Returns: The number of deleted blocks.
    func forgetEvents(before: Timestamp) async throws -> Int
}

/// The erasure of apps and users with all their data.
///
/// A request marks the app or user in one transaction. The rows are deleted in transactions of bounded size, also after a
/// restart. Finally the file is rewritten, because SQLite leaves copies of rows in the free space of its pages.
package protocol ErasureStore: Sendable {
    /// Marks an app for erasure: its notifications end, its credentials are deleted, and requests do not find it any more.
    /// - Returns: The erasure; `nil` if there is no such app.
    func eraseApp(_ app: Int64, now: Timestamp, steady: Timestamp) async throws -> ErasureRecord?
    /// Returns the erasure of the app with this bundle id; `nil` if it is not being erased.
    func erasure(ofApp bundleID: Topic) async throws -> ErasureRecord?
    /// Marks a user of an app for erasure, whether the user has devices or not.
    ///
    /// An erasure of the user that is in progress stays as it is: data and devices that became the user's after its request
    /// are not part of it, whatever the clocks show. An erasure that was answered as complete (``noteAnswered(_:)``) is
    /// extended to the present data.
    func eraseUser(_ user: String, app: Int64, steady: Timestamp) async throws -> ErasureRecord
    /// Records that an erasure has been reported as complete, unless it has been extended since.
    func noteAnswered(_ erasure: ErasureRecord) async throws
    /// Returns all erasures that have not ended, oldest first.
    func erasures() async throws -> [ErasureRecord]
    /// Erases a bounded number of rows.
    /// - Returns: `true` if more rows remain.
    func continueErasure(_ erasure: ErasureRecord, now: Timestamp) async throws -> Bool
    /// Returns the tokens that devices of the user have or had, whether these are erased yet or not; none for the erasure of
    /// an app.
    func tokens(of erasure: ErasureRecord) async throws -> Set<DeviceToken>
    /// Erases data of erased users that was kept for notifications in progress, once these have ended.
    func eraseEnded(now: Timestamp) async throws
    /// Records that all rows have been deleted, and removes the name of the user. An erasure that has been extended since
    /// does not change.
    func finishErasure(_ erasure: ErasureRecord) async throws
    /// Rewrites the database file, empties its log, and ends the erasures whose rows have been deleted.
    ///
    /// Other writers wait meanwhile. It needs free disk space of the size of the database.
    /// - Returns: `false` if a reader prevents the log from being emptied. The erasures stay for another attempt then.
    func overwriteErased() async throws -> Bool
}

/// The store of the steady clock, so that time does not go back from one start to the next.
package protocol ClockStore: Sendable {
    /// Returns the latest mark; `nil` before the first one.
    func clockMark() async throws -> ClockMark?
    /// Replaces the mark.
    func setClockMark(_ mark: ClockMark) async throws
}

/// The latest stored reading of the steady clock.
package struct ClockMark: Hashable, Sendable {
    /// The latest reading of the steady clock.
    package var steady: Timestamp
    /// The reading of the wall clock while it is so far ahead that it is not trusted; `nil` while both clocks agree.
    package var claim: Timestamp?
    /// The time for which the wall clock has been consistent with the claim while a provider was running.
    package var agreed: Duration

    package init(steady: Timestamp, claim: Timestamp? = nil, agreed: Duration = .zero) {
        (self.steady, self.claim, self.agreed) = (steady, claim, agreed)
    }
}

/// The maximum delays of work that waits. A longer delay in the store is due to a clock that was wrong.
package enum MaximumDelay {
    /// The maximum delay of a back-off: 15 min. Work with a longer delay is examined again by then.
    package static let backoff: Duration = .seconds(15 * 60)
    /// The maximum delay of a recipient that waits for its send window: 26 h.
    package static let hours: Duration = .seconds(26 * 3600)
    /// The maximum delay of a time zone's shard after the opening: the last zone begins 26 h after the first, and its window
    /// opens within another day.
    package static let zone: Duration = .seconds(50 * 3600)
}
