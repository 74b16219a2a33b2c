import Foundation
import ProviderModel
import PushTypes

/// Commits one page, within a transaction.
struct PageCommit {
    private let page: PageResult
    /// A Boolean value that indicates whether the page is about to be sent. If so, its lease is kept.
    private let begins: Bool
    private let owner, number: Int64
    private let now: Timestamp
    private let reasons: ReasonLookup
    private let trace: PageTrace
    private let statistics: StatisticCounter
    private let isAppStopped, isAtMostOnce: Bool
    private let database: any SQLConnection
    private let id: UUID
    private let app: Int64
    private let state: NotificationRecord.State
    private let lane: NotificationRecord.Lane
    private let hasStarted: Bool
    /// The stored origin of the notification, or `nil` if the notification did not arrive over a bridge.
    private let origin: String?

    /// Creates the commit, and reads the notification's row. Returns `nil` if the notification no longer exists.
    init?(
        _ page: PageResult,
        begins: Bool,
        owner: Int64,
        now: Timestamp,
        parts: CommitContext,
        in database: any SQLConnection
    ) throws {
        let sql = """
            SELECT id, app, state, lane, origin, startedAt, guarantee, EXISTS (SELECT 1 FROM appStop WHERE app = notification.app) AS isStopped
            FROM notification WHERE number = ?
            """
        guard let row = try database.row(sql: sql, [page.notificationNumber]) else { return nil }
        guard let id = row.uuid("id"), let app = row["app"] as Int64?,
            let state = row.value("state") as NotificationRecord.State?,
            let lane = row.value("lane") as NotificationRecord.Lane?
        else { throw DamagedRow(table: "notification") }
        (self.page, self.begins, self.owner, self.number) = (page, begins, owner, page.notificationNumber)
        (self.now, self.reasons, self.database) = (now, parts.reasons, database)
        (self.id, self.app, self.state, self.lane) = (id, app, state, lane)
        self.hasStarted = row["startedAt"] as Int64? != nil
        self.statistics = parts.statistics
        self.origin = row["origin"]
        self.isAppStopped = row["isStopped"] as Bool? == true
        self.isAtMostOnce = row.value("guarantee") as NotificationRecord.Guarantee? == .atMostOnce
        self.trace = try PageTrace(page, number: self.number, now: now, connections: parts.connections, in: database)
    }

    /// A Boolean value that indicates whether the notification has further pages to send after this one.
    private var isInProgress: Bool {
        self.page.pauses == nil && (self.state == .accepted || self.state == .sending) && !self.isAppStopped
    }

    /// Writes the page.
    /// - Returns: ``CommitResult/leaseLost`` if the lease was lost. Then only a pause of the notification is written.
    func run() throws -> StartedPage {
        if let reason = self.page.pauses { try NotificationRow.pause(self.number, reason: reason, in: self.database) }
        guard try self.holdsLease() else { return StartedPage(result: .leaseLost, started: []) }
        var counts = OutcomeCounts()
        var started: Set<Int64> = []
        var skips = SkipTally()
        let hasHeld = try self.hasHeldRecipients()
        var written: [DeliveryResult] = []
        let areWritten = try self.write(self.page.deliveries, hasHeld: hasHeld)
        for (delivery, isWritten) in zip(self.page.deliveries, areWritten) where isWritten {
            written.append(delivery)
            counts.add(delivery.state)
            skips.add(delivery)
            if delivery.state == .sending { started.insert(delivery.recipient) }
        }
        try self.noteBegun(started)
        let endings = try self.page.endings.filter { try self.end($0, hasHeld: hasHeld) }
        started.formUnion(endings.map(\.delivery.recipient))
        let ended = try self.page.removed.filter { try self.skip($0, hasHeld: hasHeld) } + endings
        for ending in ended {
            counts.add(ending.delivery.state)
            skips.add(ending.delivery)
        }
        try skips.write(self.number, self.reasons, in: self.database)
        self.statistics.add(written, of: self.app)
        self.statistics.add(ended.map(\.delivery), of: self.app)
        let paused = try self.pausedEnvironments()
        for retry in self.page.retries {
            try self.queue(retry, paused)
            try self.trace.write(retry, self.reasons)
        }
        try SentTokenHistory(app: self.app, database: self.database).correct(self.page)
        try self.applyTokenChanges()
        let invalid = self.page.invalidTokens
        try Self.rememberInvalid(invalid, app: self.app, origin: self.origin, now: self.now, in: self.database)
        if self.page.forgetsContent { try self.forgetContent() }
        try self.advanceShard(counts)
        try self.updateNotification(counts)
        let events = [self.page.events].compactMap { $0 } + ended.compactMap(\.event)
        let text = Data(events.joined(separator: Data(",".utf8)))
        let block =
            events.isEmpty
            ? nil : try EventBlockRow.add(.delivery, text, app: self.app, now: self.now, in: self.database)
        // The attempts of recipients that are about to be sent to are recorded by the second commit.
        let sent = self.begins ? [] : self.page.deliveries
        try self.trace.write(sent.map(\.recipient) + ended.map(\.delivery.recipient), block: block)
        if !self.begins {
            if self.isAtMostOnce { try self.forgetBegun() }
            try self.endLease()
        }
        return StartedPage(result: self.isInProgress ? .inProgress : .stopped, started: started)
    }

    /// Records the recipients that are in flight, with the lease under which they are sent.
    private func noteBegun(_ started: Set<Int64>) throws {
        for recipient in started {
            let sql = "INSERT INTO begun (notification, recipient, fence) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
            try self.database.run(sql: sql, self.number, recipient, self.page.fence ?? 0)
        }
    }

    /// Forgets the recipients that are not in flight any more.
    private func forgetBegun() throws {
        let sql = """
            DELETE FROM begun WHERE fence = ? AND notification = ? AND NOT EXISTS (
                SELECT 1 FROM delivery WHERE delivery.notification = begun.notification
                    AND delivery.recipient = begun.recipient AND delivery.state = 0)
            """
        try self.database.run(sql: sql, self.page.fence ?? 0, self.number)
    }

    /// Deletes the content of a push to an unregistered token, which anybody may have sent without authentication.
    private func forgetContent() throws {
        guard let origin, NotificationOrigin(origin)?.kind == .matrix else { return }
        let sql = "UPDATE notification SET payload = ? WHERE number = ?"
        try self.database.run(sql: sql, [Data("{}".utf8), self.number])
    }

    /// Returns whether the lease is held and no other page of the shard was written since the page was read.
    private func holdsLease() throws -> Bool {
        guard let fence = self.page.fence, try Leases.isHeld(fence, by: self.owner, in: self.database)
        else { return false }
        guard let step = self.page.step else { return true }
        let sql = "SELECT 1 FROM shard WHERE notification = ? AND number = ? AND lease = ? AND cursor = ?"
        return try self.database.hasRow(sql: sql, self.number, step.shard, fence, step.from)
    }

    private func applyTokenChanges() throws {
        guard !self.page.tokenChanges.isEmpty else { return }
        let events = TokenEventWriter(app: self.app, now: self.now, in: self.database)
        let invalidation = TokenInvalidation(events: events, notification: self.id)
        for change in self.page.tokenChanges { try invalidation.apply(change) }
        try events.announce()
    }

    /// Ends the lease unless the shard continues under it, and finishes the notification if this was its last page.
    private func endLease() throws {
        guard let fence = self.page.fence else { return }
        if let until = self.keptUntil {
            try Leases.extend(fence, until: until, in: self.database)
        } else {
            if self.page.step == nil { try Leases.freeRetries(fence, in: self.database) }
            try Leases.end(fence, in: self.database)
        }
        if self.state == .cancelled { try NotificationCompletion.tidy(self.number, in: self.database) }
        if self.page.step?.isLast ?? true {
            try NotificationCompletion.finishIfComplete(self.number, now: self.now, in: self.database)
        }
    }

    /// The new expiry time of the lease, or `nil` to end it now, as for a stopped notification, which has no later
    /// page.
    private var keptUntil: Timestamp? { self.isInProgress ? self.page.step?.leaseUntil : nil }

    /// Writes the states of recipients, unless they already have final states.
    /// - Parameter hasHeld: Whether recipients of the notification are queued until all shards have been read.
    /// - Returns: For each of them, whether its state was written.
    private func write(_ deliveries: [DeliveryResult], hasHeld: Bool) throws -> [Bool] {
        // A recipient of a shard is in the retry queue only if it moved between the time zones of two pages in flight.
        if self.page.step == nil {
            for delivery in deliveries { try self.removeRetry(of: delivery.recipient) }
        } else if hasHeld {
            for delivery in deliveries { try self.removeHeld(delivery.recipient) }
        }
        let upserts = deliveries.map {
            DeliveryUpsert($0, of: self.number, lane: self.lane, trip: self.trace.trip($0.trip))
        }
        return try DeliveryUpsert.write(upserts, self.reasons, in: self.database)
    }

    /// Skips a recipient whose device was removed, or queues it if the device has returned since the page was read.
    /// - Returns: Whether the recipient was skipped.
    private func skip(_ removed: ReportedDelivery, hasHeld: Bool) throws -> Bool {
        let delivery = removed.delivery
        let isBack = "SELECT 1 FROM device WHERE id = ? AND hasLeft = 0"
        guard try self.database.hasRow(sql: isBack, delivery.recipient)
        else { return try self.write([delivery], hasHeld: hasHeld) == [true] }
        var retry = RetryResult(recipient: delivery.recipient, attempts: delivery.attempts, dueAt: .atOnce)
        retry.mayHaveArrived = delivery.state == .unknown
        try self.queue(retry, [])
        return false
    }

    /// Writes a recipient's final state before the rest of the page is sent, unless the recipient has a state.
    /// - Returns: Whether the state was written.
    private func end(_ ending: ReportedDelivery, hasHeld: Bool) throws -> Bool {
        let hasState = "SELECT 1 FROM delivery WHERE notification = ? AND recipient = ?"
        guard try !self.database.hasRow(sql: hasState, self.number, ending.delivery.recipient) else { return false }
        return try self.write([ending.delivery], hasHeld: hasHeld) == [true]
    }

    private func hasHeldRecipients() throws -> Bool {
        guard self.page.step != nil else { return false }
        let sql = """
            SELECT 1 FROM retry INDEXED BY retryByDue
            WHERE notification = ? AND dueAt = \(RetryQueue.afterShards) LIMIT 1
            """
        return try self.database.hasRow(sql: sql, self.number)
    }

    /// Removes a recipient from the retry queue, if it waits there until all shards have been read.
    private func removeHeld(_ recipient: Int64) throws {
        let sql = "DELETE FROM retry WHERE notification = ? AND recipient = ? AND dueAt = \(RetryQueue.afterShards)"
        try self.database.run(sql: sql, self.number, recipient)
    }

    /// Removes a recipient from the retry queue, if it was claimed under the page's lease.
    private func removeRetry(of recipient: Int64) throws {
        let sql = "DELETE FROM retry WHERE notification = ? AND recipient = ? AND lease = ?"
        try self.database.run(sql: sql, self.number, recipient, self.page.fence)
    }

    /// Returns the environments that delay recipients of the page and are still paused.
    private func pausedEnvironments() throws -> Set<PushEnvironment> {
        let holding = Set(self.page.retries.compactMap(\.heldFor))
        if !holding.isEmpty || self.page.step?.heldFor != nil {
            // The end of a pause waits until the recipients that it makes due are written.
            try self.database.lock(.shared, "environmentState", where: "app = ?", [self.app])
        }
        return try holding.filter { try EnvironmentPauseTable.areHeld(.one($0), of: self.app, in: self.database) }
    }

    private enum RetryColumn: Int, CodingKey, CaseIterable {
        case notification, recipient, environment, lane, app, attempts, dueAt, heldFor, mayHaveArrived

        static let hasNoState = """
            NOT EXISTS (
                SELECT 1 FROM delivery
                WHERE notification = \(Self.notification.place) AND recipient = \(Self.recipient.place))
            """
    }

    private static let queuing = RetryColumn.insertion(
        into: "retry",
        if: RetryColumn.hasNoState,
        """
        ON CONFLICT (notification, recipient) DO UPDATE
        SET environment = excluded.environment, attempts = excluded.attempts, dueAt = excluded.dueAt,
            heldFor = excluded.heldFor, mayHaveArrived = excluded.mayHaveArrived, lease = NULL
        """
    )
    private static let holding = RetryColumn.insertion(
        into: "retry",
        if: RetryColumn.hasNoState,
        "ON CONFLICT (notification, recipient) DO NOTHING"
    )

    /// Queues a recipient for a retry, unless it has a final state. The state that was written before the sending under
    /// `atMostOnce` is deleted, because the push was not sent.
    private func queue(_ retry: RetryResult, _ paused: Set<PushEnvironment>) throws {
        if retry.dueAt == .afterShards { return try self.hold(retry.recipient) }
        let begun = "DELETE FROM delivery WHERE notification = ? AND recipient = ? AND state = 0"
        try self.database.run(sql: begun, self.number, retry.recipient)
        let isHeld = retry.heldFor.map(paused.contains) ?? false
        let row = try RowInsertion<RetryColumn>(Self.queuing, in: self.database)
        row.bind(retry.environment?.code, to: .environment)
        row.bind(Int64(retry.attempts), to: .attempts)
        row.bind(isHeld ? retry.heldFor?.code : nil, to: .heldFor)
        row.bind(retry.mayHaveArrived ? 1 : 0, to: .mayHaveArrived)
        try self.add(row, retry.recipient, dueAt: retry.heldFor == nil || isHeld ? retry.dueAt : .atOnce)
    }

    /// Queues a recipient until all shards have been read, unless it already has a state or is queued.
    private func hold(_ recipient: Int64) throws {
        let row = try RowInsertion<RetryColumn>(Self.holding, in: self.database)
        row.bind(0, to: .attempts)
        row.bind(0, to: .mayHaveArrived)
        try self.add(row, recipient, dueAt: .afterShards)
    }

    /// Adds a row to the retry queue. It is due immediately if the notification is cancelled.
    private func add(_ row: RowInsertion<RetryColumn>, _ recipient: Int64, dueAt: Timestamp) throws {
        row.bind(self.number, to: .notification)
        row.bind(recipient, to: .recipient)
        row.bind(self.lane.rawValue, to: .lane)
        row.bind(self.app, to: .app)
        row.bind((self.state == .cancelled ? min(self.now, dueAt) : dueAt).milliseconds, to: .dueAt)
        try row.run()
    }

    /// Advances the shard's cursor, and adds the page's outcomes to the counters of the shard.
    private func advanceShard(_ counts: OutcomeCounts) throws {
        guard let step = self.page.step else { return }
        let sql = """
            UPDATE shard SET cursor = ?, isDone = max(isDone, ?), lease = ?, notBefore = max(notBefore, ?),
                lastPageAt = ?, accepted = accepted + ?, rejected = rejected + ?, failed = failed + ?,
                skipped = skipped + ?, unknown = unknown + ?, heldApp = ?, heldFor = ?
            WHERE notification = ? AND number = ?
            """
        let statement = try self.database.prepare(sql)
        let lease = self.begins || self.keptUntil != nil ? self.page.fence : nil
        let heldFor = try step.heldFor.flatMap { held in
            try EnvironmentPauseTable.areHeld(held, of: self.app, in: self.database) ? held : nil
        }
        let isDue = step.heldFor != nil && heldFor == nil
        let (isDone, notBefore) = (step.isLast && !self.begins, isDue ? 0 : step.notBefore?.milliseconds ?? 0)
        statement.bind(step.cursor, isDone ? 1 : 0, lease, notBefore, self.now.milliseconds)
        statement.bind(counts, at: 6)
        statement.bind(heldFor == nil ? nil : self.app, at: 11)
        statement.bind(heldFor?.code, at: 12)
        statement.bind(self.number, at: 13)
        statement.bind(step.shard, at: 14)
        try statement.run()
    }

    /// Updates the notification's own row, if needed. Most pages of a shard change nothing in it.
    private func updateNotification(_ counts: OutcomeCounts) throws {
        let isOfShard = self.page.step != nil
        let hasNews = self.page.nextPageAt != nil || self.page.wave != nil || self.state == .accepted
        guard !isOfShard || !self.hasStarted || hasNews else { return }
        let sql = """
            UPDATE notification SET startedAt = coalesce(startedAt, ?1), nextPageAt = max(nextPageAt, ?2),
                waveStartedAt = coalesce(?3, waveStartedAt), sentInWave = coalesce(?4, sentInWave),
                lastPageAt = coalesce(?5, lastPageAt), accepted = accepted + ?6, rejected = rejected + ?7,
                failed = failed + ?8, skipped = skipped + ?9, unknown = unknown + ?10,
                state = CASE state WHEN 'accepted' THEN 'sending' ELSE state END
            WHERE number = ?11
            """
        let statement = try self.database.prepare(sql)
        let (now, nextPageAt) = (self.now.milliseconds, self.page.nextPageAt?.milliseconds ?? 0)
        let (waveStartedAt, sent) = (self.page.wave?.startedAt?.milliseconds, self.page.wave.map { Int64($0.sent) })
        statement.bind(now, nextPageAt, waveStartedAt, sent, isOfShard ? nil : now)
        // The outcomes of a shard's page are added to the counters of the shard instead.
        statement.bind(isOfShard ? OutcomeCounts() : counts, at: 6)
        statement.bind(self.number, at: 11)
        try statement.run()
    }
}

extension PageCommit {
    /// Locks the rows on which the commits of pages depend: the notifications, and then the leases. Other transactions
    /// lock them in the same order.
    static func lock(_ pages: [PageResult], in database: any SQLConnection) throws {
        guard !database.hasOneWriter else { return }
        // The first page of a campaign changes its row. An answer that is outdated costs a repetition at most.
        let isUnusual = "SELECT 1 FROM notification WHERE number = ? AND (startedAt IS NULL OR state != 'sending')"
        let isExclusive = try pages.contains {
            try $0.lock == .exclusive || database.hasRow(sql: isUnusual, $0.notificationNumber)
        }
        let numbers = pages.lazy.map(\.notificationNumber)
        try database.lock(isExclusive ? .exclusive : .shared, "notification", "number", numbers)
        try database.lock(.exclusive, "lease", "fence", pages.lazy.compactMap(\.fence))
    }
}

extension PageResult {
    /// The lock on the notification's row under which the page is committed. Pages of a campaign are committed at the
    /// same time, except those after which the notification may be complete, and those that change its own row or hold
    /// recipients back until others are sent.
    fileprivate var lock: RowLock {
        let isPlain =
            self.step.map { !$0.isLast } == true && self.nextPageAt == nil && self.wave == nil && self.pauses == nil
        return isPlain && self.removed.isEmpty && !self.retries.contains { $0.dueAt == .afterShards }
            ? .shared : .exclusive
    }
}

extension PageCommit {
    /// Stores named tokens as invalid if `origin`, the stored origin of the notification, is a binary bridge.
    static func rememberInvalid(
        _ tokens: [InvalidNamedToken],
        app: Int64,
        origin: String?,
        now: Timestamp,
        in database: any SQLConnection
    ) throws {
        guard !tokens.isEmpty, let origin, NotificationOrigin(origin)?.kind == .binary else { return }
        let known = """
            ON CONFLICT (app, environment, token) DO UPDATE
            SET since = max(legacyToken.since, excluded.since),
                isListed = max(legacyToken.isListed, excluded.isListed), isRefused = 1, addedAt = excluded.addedAt
            """
        for token in tokens {
            let values: ColumnValues = [
                "app": app, "environment": token.environment.code, "token": Data(token.token.bytes),
                "since": token.since.milliseconds, "isListed": token.isUnregistered, "isRefused": 1,
                "addedAt": now.milliseconds,
            ]
            try database.insert(into: "legacyToken", values, known)
        }
    }
}
