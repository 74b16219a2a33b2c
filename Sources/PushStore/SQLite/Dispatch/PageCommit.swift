import Foundation
import GRDB
import PushTypes

/// The commit of one page, within a transaction.
struct PageCommit {
    private let page: PageResult
    /// Is `true` for a page that is about to be sent, whose lease is kept.
    private let begins: Bool
    private let owner: Int64
    private let number: Int64
    private let now: Timestamp
    private let reasons: ReasonLookup
    private let database: Database
    private let id: UUID
    private let app: Int64
    private let state: NotificationRecord.State
    private let lane: NotificationRecord.Lane
    private let hasStarted: Bool

    /// Reads what the notification's row says now; `nil` if the notification is gone.
    init?(
        _ page: PageResult,
        begins: Bool,
        owner: Int64,
        now: Timestamp,
        reasons: ReasonLookup,
        database: Database
    ) throws {
        let row = try Row.fetchOne(
            database,
            sql: "SELECT id, app, state, lane, startedAt FROM notification WHERE number = ?",
            arguments: [page.notificationNumber]
        )
        guard let row else { return nil }
        guard let id = row.uuid("id"), let app = row["app"] as Int64?,
            let state = (row["state"] as String?).flatMap(NotificationRecord.State.init(rawValue:)),
            let lane = (row["lane"] as Int64?).flatMap(NotificationRecord.Lane.init(rawValue:))
        else { throw DamagedRow(table: "notification") }
        self.page = page
        self.begins = begins
        self.owner = owner
        self.hasStarted = row["startedAt"] as Int64? != nil
        self.number = page.notificationNumber
        self.now = now
        self.reasons = reasons
        self.database = database
        (self.id, self.app, self.state, self.lane) = (id, app, state, lane)
    }

    /// Is `true` if the notification is still to be sent after this page.
    private var isInProgress: Bool { self.page.pauses == nil && (self.state == .accepted || self.state == .sending) }

    /// Writes the page.
    /// - Returns: ``CommitResult/leaseLost`` without having written anything but a pause if the lease is lost.
    func run() throws -> StartedPage {
        if let reason = self.page.pauses { try SQLiteStore.pause(self.number, reason: reason, in: self.database) }
        guard try self.holdsLease() else { return StartedPage(result: .leaseLost, started: []) }
        var counts: [DeliveryRecord.State: Int] = [:]
        var started: Set<Int64> = []
        let hasHeld = try self.hasHeldRecipients()
        for delivery in self.page.deliveries where try self.write(delivery, hasHeld: hasHeld) {
            counts[delivery.state, default: 0] += 1
            if delivery.state == .sending { started.insert(delivery.recipient) }
        }
        let removed = try self.page.removed.filter { try self.skip($0, hasHeld: hasHeld) }
        counts[.skipped, default: 0] += removed.count
        for retry in self.page.retries { try self.queue(retry) }
        try SentTokenHistory(app: self.app, database: self.database).correct(self.page)
        try self.applyTokenChanges()
        try self.advanceShard(counts)
        try self.updateNotification(counts)
        let events = [self.page.events].compactMap { $0 } + removed.compactMap(\.event)
        if !events.isEmpty { try self.addEvents(Data(events.joined(separator: Data(",".utf8)))) }
        if !self.begins { try self.endLease() }
        return StartedPage(result: self.isInProgress ? .inProgress : .stopped, started: started)
    }

    /// Tells whether the lease is held and the cursor is where the claim saw it.
    private func holdsLease() throws -> Bool {
        guard let fence = self.page.fence, try Leases.isHeld(fence, by: self.owner, in: self.database) else {
            return false
        }
        guard let step = self.page.step else { return true }
        return try RawStatement.givesRow(
            "SELECT 1 FROM shard WHERE notification = ? AND number = ? AND lease = ? AND cursor = ?",
            self.number,
            step.shard,
            fence,
            step.from,
            in: self.database
        )
    }

    /// Applies what the responses say about tokens, and announces it to webhooks.
    private func applyTokenChanges() throws {
        guard !self.page.tokenChanges.isEmpty else { return }
        let invalidation = TokenInvalidation(
            app: self.app,
            notification: self.id,
            now: self.now,
            database: self.database
        )
        let last = try TokenEventWriter.last(in: self.database)
        for change in self.page.tokenChanges { try invalidation.apply(change) }
        try TokenEventWriter.announce(after: last, app: self.app, at: self.now, in: self.database)
    }

    /// Ends the lease unless the shard continues under it, and the notification if this was its last page.
    private func endLease() throws {
        guard let fence = self.page.fence else { return }
        if let until = self.keptUntil {
            try Leases.extend(fence, until: until, in: self.database)
        } else {
            if self.page.step == nil { try Leases.freeRetries(fence, in: self.database) }
            try Leases.end(fence, in: self.database)
        }
        if self.state == .cancelled { try Completion.tidy(self.number, in: self.database) }
        if self.page.step?.isLast ?? true {
            try Completion.finishIfComplete(self.number, now: self.now, in: self.database)
        }
    }

    /// The new end of the lease; `nil` ends it. A notification that has stopped has no later page that would release
    /// it.
    private var keptUntil: Timestamp? { self.isInProgress ? self.page.step?.leaseUntil : nil }

    /// Writes a recipient's state unless it has a final one.
    /// - Returns: whether it was written.
    private func write(_ delivery: DeliveryResult, hasHeld: Bool) throws -> Bool {
        // A recipient of a shard is not in the queue, unless it moved between the zones of two pages in flight.
        if self.page.step == nil {
            try self.removeRetry(of: delivery.recipient)
        } else if hasHeld {
            try self.removeHeld(delivery.recipient)
        }
        let statement = try RawStatement(
            """
            INSERT INTO delivery (notification, recipient, state, attempts, at, reason, device)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (notification, recipient) DO UPDATE
            SET state = excluded.state, attempts = excluded.attempts, at = excluded.at, reason = excluded.reason
            WHERE delivery.state = 0 AND excluded.state != 0
            """,
            in: self.database
        )
        statement.bind(self.number, at: 1)
        statement.bind(delivery.recipient, at: 2)
        statement.bind(delivery.state.rawValue, at: 3)
        statement.bind(Int64(delivery.attempts), at: 4)
        statement.bind(delivery.at.milliseconds, at: 5)
        if let reason = delivery.reason {
            statement.bind(try self.reasons.id(of: reason, in: self.database), at: 6)
        }
        // Elsewhere the recipient is the device.
        if self.lane == .urgent || delivery.recipient < 0 { statement.bind(delivery.device, at: 7) }
        return try statement.run() > 0
    }

    /// Skips a recipient whose device is gone, or queues it if the device has come back since the page was read.
    /// - Returns: whether it was skipped.
    private func skip(_ removed: RemovedRecipient, hasHeld: Bool) throws -> Bool {
        let delivery = removed.delivery
        let device = try RawStatement("SELECT 1 FROM device WHERE id = ? AND hasLeft = 0", in: self.database)
        defer { device.reset() }
        device.bind(delivery.recipient, at: 1)
        guard try device.step() else { return try self.write(delivery, hasHeld: hasHeld) }
        try self.queue(RetryResult(recipient: delivery.recipient, attempts: delivery.attempts, dueAt: .atOnce))
        return false
    }

    /// Tells whether some of the notification's recipients wait until all shards have been read.
    private func hasHeldRecipients() throws -> Bool {
        guard self.page.step != nil else { return false }
        return try RawStatement.givesRow(
            "SELECT 1 FROM retry INDEXED BY retryByDue WHERE notification = ? AND dueAt = \(RetryQueue.afterShards) LIMIT 1",
            self.number,
            in: self.database
        )
    }

    /// Removes a recipient from those that wait until all shards have been read.
    private func removeHeld(_ recipient: Int64) throws {
        try RawStatement.run(
            "DELETE FROM retry WHERE notification = ? AND recipient = ? AND dueAt = \(RetryQueue.afterShards)",
            self.number,
            recipient,
            in: self.database
        )
    }

    /// Removes a recipient from the queue that was claimed under the page's lease.
    private func removeRetry(of recipient: Int64) throws {
        try RawStatement.run(
            "DELETE FROM retry WHERE notification = ? AND recipient = ? AND lease = ?",
            self.number,
            recipient,
            self.page.fence,
            in: self.database
        )
    }

    /// Queues a recipient unless it has a final state; of a cancelled notification it is due at once, to be ended. The
    /// state that at-most-once had written before is removed: the push was not sent.
    private func queue(_ retry: RetryResult) throws {
        if retry.dueAt == .afterShards { return try self.hold(retry.recipient) }
        try RawStatement.run(
            "DELETE FROM delivery WHERE notification = ? AND recipient = ? AND state = 0",
            self.number,
            retry.recipient,
            in: self.database
        )
        let statement = try RawStatement(
            """
            INSERT INTO retry (notification, recipient, environment, lane, app, attempts, dueAt)
            SELECT ?1, ?2, ?3, ?4, ?7, ?5, ?6
            WHERE NOT EXISTS (SELECT 1 FROM delivery WHERE notification = ?1 AND recipient = ?2)
            ON CONFLICT (notification, recipient) DO UPDATE
            SET environment = excluded.environment, attempts = excluded.attempts, dueAt = excluded.dueAt, lease = NULL
            """,
            in: self.database
        )
        statement.bind(self.number, at: 1)
        statement.bind(retry.recipient, at: 2)
        statement.bind(retry.environment?.code, at: 3)
        statement.bind(self.lane.rawValue, at: 4)
        statement.bind(Int64(retry.attempts), at: 5)
        statement.bind((self.state == .cancelled ? min(self.now, retry.dueAt) : retry.dueAt).milliseconds, at: 6)
        statement.bind(self.app, at: 7)
        try statement.run()
    }

    /// Queues a recipient until all shards have been read, unless another page has started it or it waits for another
    /// try.
    private func hold(_ recipient: Int64) throws {
        let statement = try RawStatement(
            """
            INSERT INTO retry (notification, recipient, lane, app, attempts, dueAt)
            SELECT ?1, ?2, ?3, ?4, 0, ?5
            WHERE NOT EXISTS (SELECT 1 FROM delivery WHERE notification = ?1 AND recipient = ?2)
            ON CONFLICT (notification, recipient) DO NOTHING
            """,
            in: self.database
        )
        let dueAt = self.state == .cancelled ? self.now : .afterShards
        statement.bind(self.number, at: 1)
        statement.bind(recipient, at: 2)
        statement.bind(self.lane.rawValue, at: 3)
        statement.bind(self.app, at: 4)
        statement.bind(dueAt.milliseconds, at: 5)
        try statement.run()
    }

    /// Moves the shard's cursor, and adds to its counters.
    private func advanceShard(_ counts: [DeliveryRecord.State: Int]) throws {
        guard let step = self.page.step else { return }
        let statement = try RawStatement(
            """
            UPDATE shard SET cursor = ?, isDone = max(isDone, ?), lease = ?, notBefore = max(notBefore, ?),
                accepted = accepted + ?, rejected = rejected + ?, failed = failed + ?, skipped = skipped + ?,
                lastPageAt = ?
            WHERE notification = ? AND number = ?
            """,
            in: self.database
        )
        statement.bind(step.cursor, at: 1)
        statement.bind(step.isLast && !self.begins ? 1 : 0, at: 2)
        statement.bind(self.begins || self.keptUntil != nil ? self.page.fence : nil, at: 3)
        statement.bind(step.notBefore?.milliseconds ?? 0, at: 4)
        statement.bind(counts, at: 5)
        statement.bind(self.now.milliseconds, at: 9)
        statement.bind(self.number, at: 10)
        statement.bind(step.shard, at: 11)
        try statement.run()
    }

    /// Writes what belongs to the whole notification: for most pages of a shard, nothing.
    private func updateNotification(_ counts: [DeliveryRecord.State: Int]) throws {
        let isOfShard = self.page.step != nil
        let hasNews = self.page.nextPageAt != nil || self.page.wave != nil || self.state == .accepted
        guard !isOfShard || !self.hasStarted || hasNews else { return }
        let statement = try RawStatement(
            """
            UPDATE notification SET startedAt = coalesce(startedAt, ?1), nextPageAt = max(nextPageAt, ?2),
                waveStartedAt = coalesce(?3, waveStartedAt), sentInWave = coalesce(?4, sentInWave),
                accepted = accepted + ?5, rejected = rejected + ?6, failed = failed + ?7, skipped = skipped + ?8,
                lastPageAt = coalesce(?9, lastPageAt), state = CASE state WHEN 'accepted' THEN 'sending' ELSE state END
            WHERE number = ?10
            """,
            in: self.database
        )
        statement.bind(self.now.milliseconds, at: 1)
        statement.bind(self.page.nextPageAt?.milliseconds ?? 0, at: 2)
        statement.bind(self.page.wave?.startedAt?.milliseconds, at: 3)
        statement.bind(self.page.wave.map { Int64($0.sent) }, at: 4)
        // Those of a shard's page are counted there.
        statement.bind(isOfShard ? [:] : counts, at: 5)
        statement.bind(isOfShard ? nil : self.now.milliseconds, at: 9)
        statement.bind(self.number, at: 10)
        try statement.run()
    }

    /// Adds a block of events for webhooks.
    private func addEvents(_ events: Data) throws {
        try self.database.execute(
            sql: "INSERT INTO eventBlock (app, kind, at, events) VALUES (?, ?, ?, ?)",
            arguments: [self.app, WebhookRecord.Event.delivery.rawValue, self.now.milliseconds, events]
        )
    }
}

extension RawStatement {
    /// Binds the numbers of accepted, rejected, failed and skipped recipients, at four positions.
    fileprivate func bind(_ counts: [DeliveryRecord.State: Int], at position: Int32) {
        let states: [DeliveryRecord.State] = [.accepted, .rejected, .failed, .skipped]
        for (offset, state) in states.enumerated() {
            self.bind(Int64(counts[state] ?? 0), at: position + Int32(offset))
        }
    }
}
