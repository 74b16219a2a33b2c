package import Foundation
package import ProviderModel
package import PushTypes

/// The store's checks and statistics for operators.
package protocol MaintenanceStore: Sendable {
    /// Checks that the store is writable, by inserting and deleting a row.
    /// - Throws: ``StoreError/cannotWrite(why:)`` if the disk is full or read-only, for example.
    func checkWritable() async throws
    /// Pauses all notifications that have not ended and all schedules, including those that cannot be read.
    /// - Returns: The numbers of paused notifications and schedules.
    func pauseEverything(reason: String) async throws -> (notifications: Int, schedules: Int)
    /// Counts pending work for metrics. The query is cheap enough to run every few seconds.
    func statistics(now: Timestamp) async throws -> StoreBacklog
}

/// An app's environment in which the circuit breaker is open, so that tokens are not deactivated.
package struct OpenBreaker: Hashable, Sendable {
    package var bundleID: Topic
    package var environment: PushEnvironment
}

/// The amounts of pending work, for metrics.
package struct StoreBacklog: Hashable, Sendable {
    /// The number of notifications that have not finished, by state.
    package var notifications: [NotificationRecord.State: Int] = [:]
    /// The number of recipients that wait for another attempt.
    package var retries = 0
    /// The earliest due time of a retry by the steady clock, which may be in the past, or `nil` if there is none.
    package var oldestRetryDueAt: Timestamp?
    /// The number of shards that are leased for sending.
    package var shardsLeased = 0
    package var shardsWaiting = 0, tokensDeactivated = 0
    /// The number of shards that may be sent now, with or without a lease.
    package var shardsDue = 0
    package var openBreakers: [OpenBreaker] = []
    /// The number of deactivations that are withheld until an operator decides.
    package var tokensWithheld = 0
    /// The number of event blocks that the webhook with the largest backlog has not acknowledged.
    package var webhookBacklog = 0
    /// The wall-clock time of the oldest event block not acknowledged by an active webhook, or `nil` if there is none.
    package var oldestWebhookBlockAt: Timestamp?
}

/// The store of monitored data: certificates with their expiry, token events, and the states of campaigns.
package protocol MonitoringStore: Sendable {
    /// Returns the certificates of all apps, but no signing keys. Certificates that cannot be read are left out.
    func certificates() async throws -> [StoredCertificate]
    /// Records that a certificate's expiry was announced, and adds the webhook event, unless the certificate was
    /// replaced, or this stage or a later one was already announced.
    /// - Parameters:
    ///   - stage: The stage of the announcement: the maximum number of days until the expiry. Later stages are lower.
    ///   - event: The webhook event, in the format of ``EventBlock/events``.
    /// - Returns: Whether the announcement was recorded.
    func announceEnd(of certificate: StoredCertificate, stage: Int, event: Data, now: Timestamp) async throws -> Bool
    /// Counts the token events among the 100,000 ids above `id`, by their properties. `last` is the highest of these
    /// ids, to be passed to the next call.
    /// - Parameter id: The id of the last event already counted, or `nil` to count none and return the last id.
    func tokenEvents(after id: Int64?) async throws -> (counts: [TokenEventCount], last: Int64)
    /// Returns the states of the campaigns with numbers above `newest`, and of the campaigns with numbers in `open`.
    /// - Parameters:
    ///   - newest: The highest known number of a notification, or `nil` for all campaigns that have not finished.
    ///   - limit: The maximum number of new campaigns, and the maximum number of campaigns in `open`.
    func campaigns(after newest: Int64?, and open: [Int64], limit: Int) async throws -> CampaignReading
}

/// The states of campaigns, all read in one snapshot.
package struct CampaignReading: Hashable, Sendable {
    package var campaigns: [CampaignState]
    /// The highest notification number that was read, whether or not of a campaign, to be passed to the next call.
    package var newest: Int64

    package init(_ campaigns: [CampaignState], newest: Int64) { (self.campaigns, self.newest) = (campaigns, newest) }
}

package struct CampaignState: Hashable, Sendable {
    package var number: Int64
    package var id: UUID
    package var app: Int64
    package var state: NotificationRecord.State
    /// A Boolean value that indicates whether the first page of the campaign was sent.
    package var hasStarted: Bool

    package init(number: Int64, id: UUID, app: Int64, state: NotificationRecord.State, hasStarted: Bool) {
        (self.number, self.id, self.app, self.state, self.hasStarted) = (number, id, app, state, hasStarted)
    }
}

/// A certificate of an app, with its expiry and the progress of its announcement.
package struct StoredCertificate: Hashable, Sendable {
    package var app: Int64
    package var bundleID: Topic
    package var environment: PushEnvironment
    package var credential: CredentialRecord
    /// The certificate and its private key, sealed with the master key. The store compares the seal with the stored one
    /// when an expiry is announced, to notice that the certificate was replaced meanwhile.
    package var seal: Data
    /// The stage that was last announced, in days until the expiry, or `nil` if none was.
    package var announcedStage: Int?
}

/// The number of token events with the same properties.
package struct TokenEventCount: Hashable, Sendable {
    /// The bundle id of the app, or the app's number if it no longer exists.
    package var app: String
    package var environment: PushEnvironment
    package var action: TokenEventRecord.Action
    package var reason: String?
    package var count: Int
}

/// The deletion of records after the end of their retention period.
package protocol RetentionStore: Sendable {
    /// Deletes notifications that finished before a time, with their deliveries, and token events from before it.
    /// - Parameter limit: The maximum number of rows per call, so that other writers do not wait long.
    /// - Returns: The number of deleted rows, or 0 if nothing is left to delete.
    func forget(before: Timestamp, limit: Int) async throws -> Int
    /// Deletes connections that were opened before a time. The newest connections are kept, because they may be open.
    /// - Parameter limit: The maximum number of rows per call.
    /// - Returns: The number of deleted rows, or 0 if nothing is left to delete.
    func forgetConnections(before: Timestamp, limit: Int) async throws -> Int
    /// Deletes up to `limit` entries of the audit log from before a time.
    /// - Returns: The number of deleted entries.
    func forgetAudit(before: Timestamp, limit: Int) async throws -> Int
    /// Removes up to `limit` entries from before a time in feedback lists, which no provider has read.
    /// - Returns: The number of removed entries.
    func forgetLegacyTokens(before: Timestamp, limit: Int) async throws -> Int
    /// Adds the chart counters that are too old for their interval, a minute or an hour, to those of the next longer
    /// one, and deletes counters of days that are too old.
    /// - Returns: The number of rows processed in this transaction, or 0 if nothing is left to do.
    func rollUpStatistics(now: Timestamp) async throws -> Int
    /// Deletes up to `limit` records of notifications that are too old to count towards a frequency cap.
    /// - Parameter now: The current time by the steady clock.
    /// - Returns: The number of deleted rows.
    func forgetCapUses(now: Timestamp, limit: Int) async throws -> Int
    /// Deletes blocks of webhook events from before a time.
    /// - Returns: The number of deleted blocks.
    func forgetEvents(before: Timestamp) async throws -> Int
}

/// The erasure of apps and users with all of their data.
///
/// A request marks the app or user for erasure in one transaction. The rows are then deleted in transactions of bounded
/// size, which continue after a restart. Finally the database file is rewritten, because SQLite leaves copies of
/// deleted rows in the free space of pages.
package protocol ErasureStore: Sendable {
    /// Marks an app for erasure, cancels its notifications, and deletes its credentials. Requests no longer find it.
    /// - Parameters:
    ///   - now: The time of the request by the wall clock.
    ///   - steady: The time of the request by the steady clock, with which the erasure is dated.
    /// - Returns: The erasure, or `nil` if there is no such app.
    func eraseApp(_ app: Int64, now: Timestamp, steady: Timestamp) async throws -> ErasureRecord?
    /// Returns the erasure of the app with this bundle id, or `nil` if the app is not being erased.
    func erasure(ofApp bundleID: Topic) async throws -> ErasureRecord?
    /// Marks a user of an app for erasure, whether or not the user has devices.
    ///
    /// If an erasure of the user is already in progress, it is returned unchanged. It does not include data and devices
    /// that became the user's after its request, whatever the clocks show. An erasure that was already reported as
    /// complete (``noteAnswered(_:)``) is extended to the present data.
    func eraseUser(_ user: String, app: Int64, steady: Timestamp) async throws -> ErasureRecord
    /// Records that an erasure was reported as complete, unless it has been extended since.
    func noteAnswered(_ erasure: ErasureRecord) async throws
    /// Returns all erasures that have not finished, oldest first.
    func erasures() async throws -> [ErasureRecord]
    /// Erases a bounded number of rows of the app or user.
    /// - Returns: Whether more rows remain.
    func continueErasure(_ erasure: ErasureRecord, now: Timestamp) async throws -> Bool
    /// Returns the present and former tokens of the user's devices, erased or not. The erasure of an app has none.
    func tokens(of erasure: ErasureRecord) async throws -> Set<DeviceToken>
    /// Erases data of erased users that was kept for notifications in progress and is no longer needed.
    func eraseEnded(now: Timestamp) async throws
    /// Records that all rows of an erasure have been deleted, and removes the user's name from it. An erasure that has
    /// been extended since does not change.
    func finishErasure(_ erasure: ErasureRecord) async throws
    /// Rewrites the database file, empties the write-ahead log, and finishes the erasures whose rows have been deleted.
    ///
    /// Other writers wait meanwhile. It needs as much free disk space as the database takes.
    /// - Returns: `true`, or `false` if a reader prevents this, in which case the erasures are not finished.
    func overwriteErased() async throws -> Bool
}

/// The store of the steady clock, so that its time does not go back at a restart.
package protocol ClockStore: Sendable {
    /// Returns the stored state of the steady clock, or `nil` before it was first stored.
    func clockMark() async throws -> ClockMark?
    func setClockMark(_ mark: ClockMark) async throws
}

/// The stored state of the steady clock, from which it continues after a restart.
package struct ClockMark: Hashable, Sendable {
    /// The latest stored reading of the steady clock.
    package var steady: Timestamp
    /// The reading of a wall clock that is so far ahead that it is not trusted yet, or `nil` while it is trusted.
    package var claim: Timestamp?
    /// The time for which the wall clock has been consistent with ``claim`` while a provider was running.
    package var agreed: Duration

    package init(steady: Timestamp, claim: Timestamp? = nil, agreed: Duration = .zero) {
        (self.steady, self.claim, self.agreed) = (steady, claim, agreed)
    }
}
