package import Foundation
package import PushTypes

/// Operators' requests besides the store's work.
package protocol MaintenanceStore: Sendable {
    /// Writes and deletes a row, to prove that what is accepted now would be stored.
    /// - Throws: ``StoreError/cannotWrite(why:)``.
    func checkWritable() async throws
    /// Pauses every notification that has not ended and every schedule, also those that cannot be read.
    /// - Returns: The number of each.
    func pauseEverything(reason: String) async throws -> (notifications: Int, schedules: Int)
    /// Counts what waits. Cheap enough to be called every few seconds.
    func statistics(now: Timestamp) async throws -> StoreStatistics
}

/// An environment of an app in which the circuit breaker is open.
package struct OpenBreaker: Hashable, Sendable {
    package var bundleID: Topic
    package var environment: PushEnvironment
}

/// Numbers of what waits, for metrics.
package struct StoreStatistics: Hashable, Sendable {
    /// Notifications that have not ended.
    package var notifications: [NotificationRecord.State: Int] = [:]
    /// Recipients that wait for another try.
    package var retries = 0
    /// The earliest time at which one of them is due, which may be in the past.
    package var oldestRetryDueAt: Timestamp?
    /// Shards that are being sent.
    package var shardsLeased = 0
    package var shardsWaiting = 0, tokensDeactivated = 0
    /// Shards that may be sent now, or are being sent.
    package var shardsDue = 0
    /// The environments of apps in which no token is deactivated.
    package var openBreakers: [OpenBreaker] = []
    /// Deactivations that wait for an operator's decision.
    package var tokensWithheld = 0
    /// Blocks of events that the webhook that is furthest behind has not received.
    package var webhookBacklog = 0
    /// The time of the oldest of these blocks, by the wall clock; `nil` for none.
    package var oldestWebhookBlockAt: Timestamp?
}

/// The part of the store that operators monitor: certificates that end, and changes of tokens.
package protocol MonitoringStore: Sendable {
    /// Returns the certificates of all apps, without signing keys and without those that cannot be read.
    func certificates() async throws -> [StoredCertificate]
    /// Notes the announcement of a certificate's end, unless the certificate was replaced or a later stage was announced,
    /// and adds the event for webhooks.
    /// - Parameters:
    ///   - stage: The number of days that are left at most.
    ///   - event: The event, as ``EventBlock/events``.
    /// - Returns: `true` if it is to be announced.
    func announceEnd(
        of certificate: StoredCertificate,
        stage: Int,
        event: Data,
        now: Timestamp
    ) async throws -> Bool
    /// Counts the token events with ids above `id`, or the first of them if there are very many.
    /// - Parameter id: The last event that was counted; `nil` counts none and returns the last id.
    func tokenEvents(after id: Int64?) async throws -> (counts: [TokenEventCount], last: Int64)
    /// Reads the states of campaigns: those after `newest`, and those of `open`.
    /// - Parameters:
    ///   - newest: The number of the newest notification that was seen; `nil` reads the campaigns that have not ended.
    ///   - limit: The most campaigns of each.
    func campaigns(after newest: Int64?, and open: [Int64], limit: Int) async throws -> CampaignReading
}

/// The states of campaigns at one time.
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
    /// `true` once its first page was sent.
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
    /// The sealed secret, by which a replaced certificate is recognized.
    package var seal: Data
    /// The stage of its end that was announced last; `nil` for none.
    package var announcedStage: Int?
}

/// A number of changes of tokens of one kind.
package struct TokenEventCount: Hashable, Sendable {
    /// The app's bundle id; its number if the app is gone.
    package var app: String
    package var environment: PushEnvironment
    package var action: TokenEventRecord.Action
    package var reason: String?
    package var count: Int
}

/// The deletion of records that are kept for a time only.
package protocol RetentionStore: Sendable {
    /// Deletes notifications that ended before this time with their deliveries, and token events of that age.
    /// - Parameter limit: The most rows of one call, so that other writers do not wait long.
    /// - Returns: The number of rows; 0 when there is nothing left to delete.
    func forget(before: Timestamp, limit: Int) async throws -> Int
    /// Deletes connections that were opened before this time, but for the newest ones, which may be open.
    /// - Parameter limit: The most rows of one call.
    /// - Returns: The number of rows; 0 when there is nothing left to delete.
    func forgetConnections(before: Timestamp, limit: Int) async throws -> Int
    /// Deletes entries of the audit log that are older than this, `limit` at most.
    /// - Returns: Their number.
    func forgetAudit(before: Timestamp, limit: Int) async throws -> Int
    /// Removes entries about legacy tokens that no provider has asked for since a time.
    /// - Returns: The number of removed entries.
    func forgetLegacyTokens(before: Timestamp, limit: Int) async throws -> Int
    /// Adds the counters of charts that are too old for their step to those of the next one, and deletes the oldest days.
    /// - Returns: The number of rows of one transaction; 0 once nothing is left to do.
    func rollUpStatistics(now: Timestamp) async throws -> Int
    /// Deletes what no cap counts any more, of `limit` rows at most.
    /// - Parameter now: The time by the steady clock.
    /// - Returns: The number of deleted rows.
    func forgetCapUses(now: Timestamp, limit: Int) async throws -> Int
    /// Deletes the blocks of events for webhooks before this time.
    /// - Returns: Their number.
    func forgetEvents(before: Timestamp) async throws -> Int
}

/// The erasure of apps and users, with everything that is kept of them.
///
/// A request marks what has to go, in one transaction. The rows go in transactions of bounded size, and after a restart
/// too. At last the file is written anew, because SQLite leaves copies of rows in the free space of its pages.
package protocol ErasureStore: Sendable {
    /// Marks an app: its notifications end, its credentials are gone, and requests do not find it any more.
    /// - Returns: The erasure; `nil` if there is no such app.
    func eraseApp(_ app: Int64, now: Timestamp, steady: Timestamp) async throws -> ErasureRecord?
    /// Returns the erasure of an app that is marked; `nil` if none with this bundle id is.
    func erasure(ofApp bundleID: Topic) async throws -> ErasureRecord?
    /// Marks a user of an app, whether the user has devices or not.
    ///
    /// An erasure of the user that is under way stays as it is: what has come since its request is not part of it. Nor is a
    /// device that became the user's after it, whatever the clocks say. Once it was answered as complete
    /// (``noteAnswered(_:)``), it is extended to what there is now.
    func eraseUser(_ user: String, app: Int64, steady: Timestamp) async throws -> ErasureRecord
    /// Notes that the request of an erasure is answered as complete, unless it was extended since.
    func noteAnswered(_ erasure: ErasureRecord) async throws
    /// Returns all erasures that have not ended, the oldest first.
    func erasures() async throws -> [ErasureRecord]
    /// Erases some rows.
    /// - Returns: `true` if more rows remain.
    func continueErasure(_ erasure: ErasureRecord, now: Timestamp) async throws -> Bool
    /// Returns the tokens that the devices of a user have or had, erased or not yet; none for the erasure of an app.
    func tokens(of erasure: ErasureRecord) async throws -> Set<DeviceToken>
    /// Erases what notifications that were in progress have kept of erased users' time with a device, once they have ended.
    func eraseEnded(now: Timestamp) async throws
    /// Notes that all rows are gone, and forgets the name of the user. One that was extended since stays as it is.
    func finishErasure(_ erasure: ErasureRecord) async throws
    /// Writes the file anew and empties its log, and ends the erasures whose rows are gone.
    ///
    /// Other writers wait meanwhile. It needs as much free space as the database has.
    /// - Returns: `false` if a reader holds the log: the erasures stay for another attempt.
    func overwriteErased() async throws -> Bool
}

/// The record of time from one start to the next.
package protocol ClockStore: Sendable {
    /// Returns the mark that was written last; `nil` before the first one.
    func clockMark() async throws -> ClockMark?
    /// Writes a mark in place of the last one.
    func setClockMark(_ mark: ClockMark) async throws
}

/// A mark of the steady clock, as it was written last.
package struct ClockMark: Hashable, Sendable {
    /// The latest reading of the steady clock.
    package var steady: Timestamp
    /// The reading of the wall clock while that is too far ahead to be believed; `nil` while both agree.
    package var claim: Timestamp?
    /// The time for which the wall clock has kept to this claim while a provider was running.
    package var agreed: Duration

    package init(steady: Timestamp, claim: Timestamp? = nil, agreed: Duration = .zero) {
        (self.steady, self.claim, self.agreed) = (steady, claim, agreed)
    }
}

/// The maximum delays that the provider ever plans.
package enum MaximumDelay {
    /// A back-off: 15 min. What was to wait longer is looked at again by then.
    package static let backoff: Duration = .seconds(15 * 60)
    /// A recipient that waits for its send window: 26 h.
    package static let hours: Duration = .seconds(26 * 3600)
    /// A time zone of an opened notification: the last begins 26 h after the first, its window within another day.
    package static let zone: Duration = .seconds(50 * 3600)
}
