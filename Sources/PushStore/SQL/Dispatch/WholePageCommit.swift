import ProviderModel
import PushTypes

/// Commits a page that is the only one of its notification, such as a push to a few named tokens, within a transaction.
///
/// For a page that gives all recipients their final states and finishes its notification, it writes the same as
/// ``PageCommit``, with only four statements. A single query checks that the page is of this kind, on all rows that
/// ``PageCommit`` would read. For any other page it writes nothing.
struct WholePageCommit {
    /// The conditions on the stored rows: nothing of the notification was sent, its only shard is claimed under the
    /// page's lease, the app is not stopped, and no device of the app has given up its token since the page was read.
    private static let question = """
        SELECT notification.app, notification.lane FROM notification CROSS JOIN shard ON shard.notification = notification.number
        WHERE notification.number = ?1 AND state = 'accepted' AND startedAt IS NULL
            AND shard.number = ?2 AND shard.lease = ?3 AND shard.cursor = ?4 AND isDone = 0
            AND EXISTS (SELECT 1 FROM lease WHERE fence = ?3 AND owner = ?5)
            AND notification.app NOT IN (SELECT app FROM appStop)
            AND NOT EXISTS (SELECT 1 FROM shard AS other WHERE other.notification = ?1 AND other.number != ?2)
            AND NOT EXISTS (SELECT 1 FROM retry INDEXED BY retryByDue WHERE retry.notification = ?1)
            AND NOT EXISTS (
                SELECT 1 FROM formerToken INDEXED BY formerTokenBySince
                WHERE formerToken.app = notification.app AND since > ?6)
        """

    private let page: PageResult
    private let fence: Int64
    private let app: Int64
    private let lane: NotificationRecord.Lane
    private let now: Timestamp
    private let parts: CommitContext
    private let trace: PageTrace
    private let database: any SQLConnection

    /// Checks the page, and returns `nil` if ``PageCommit`` has to write it.
    init?(_ page: PageResult, owner: Int64, now: Timestamp, parts: CommitContext, in database: any SQLConnection) throws
    {
        guard let fence = page.fence, let step = page.step, page.isWhole else { return nil }
        let statement = try database.prepare(Self.question)
        defer { statement.reset() }
        statement.bind(page.notificationNumber, step.shard, fence, step.from, owner, page.snapshot?.clock)
        guard try statement.step(), let lane = NotificationRecord.Lane(rawValue: statement.integer(1))
        else { return nil }
        (self.page, self.fence, self.now, self.parts, self.database) = (page, fence, now, parts, database)
        (self.app, self.lane) = (statement.integer(0), lane)
        self.trace = try PageTrace(
            page,
            number: page.notificationNumber,
            now: now,
            connections: parts.connections,
            in: database
        )
    }

    /// Writes the page and finishes its notification. After the last page of the transaction, the caller ends the lease
    /// and deletes old records of devices (``CommitContext/end(in:)``).
    func run() throws {
        let number = self.page.notificationNumber
        var counts = OutcomeCounts()
        var skips = SkipTally()
        let upserts = self.page.deliveries.map {
            DeliveryUpsert($0, of: number, lane: self.lane, trip: self.trace.trip($0.trip))
        }
        let areWritten = try DeliveryUpsert.write(upserts, self.parts.reasons, in: self.database)
        for (delivery, isWritten) in zip(self.page.deliveries, areWritten) where isWritten {
            counts.add(delivery.state)
            skips.add(delivery)
        }
        try skips.write(number, self.parts.reasons, in: self.database)
        self.parts.statistics.add(self.page.deliveries, of: self.app)
        let block = try self.page.events.map { events in
            try EventBlockRow.add(.delivery, events, app: self.app, now: self.now, in: self.database)
        }
        try self.trace.write(self.page.deliveries.map(\.recipient), block: block)
        try self.database.run(sql: "DELETE FROM shard WHERE notification = ?", number)
        try self.database.run(sql: "DELETE FROM badgeStep WHERE notification = ?", number)
        try self.end(counts)
        self.parts.ended(self.fence, of: self.app)
    }

    private func end(_ counts: OutcomeCounts) throws {
        let sql = """
            UPDATE notification SET state = 'done', startedAt = ?1, lastPageAt = ?1, finishedAt = ?1, accepted = ?2,
                rejected = ?3, failed = ?4, skipped = ?5, unknown = ?6, recipients = ?2 + ?3 + ?4 + ?5 + ?6
            WHERE number = ?7
            """
        let statement = try self.database.prepare(sql)
        statement.bind(self.now.milliseconds, at: 1)
        statement.bind(counts, at: 2)
        statement.bind(self.page.notificationNumber, at: 7)
        try statement.run()
    }
}

extension PageResult {
    /// A Boolean value that indicates whether the page completes its shard and changes nothing besides the ledger.
    fileprivate var isWhole: Bool {
        guard let step, step.isLast, step.leaseUntil == nil, step.notBefore == nil, step.heldFor == nil
        else { return false }
        return !self.deliveries.isEmpty && self.deliveries.allSatisfy { $0.state != .sending }
            && self.removed.isEmpty && self.endings.isEmpty && self.retries.isEmpty && self.tokenChanges.isEmpty
            && self.invalidTokens.isEmpty && self.environmentPauses.isEmpty && self.pauses == nil
            && self.nextPageAt == nil && self.wave == nil && !self.forgetsContent
    }
}
