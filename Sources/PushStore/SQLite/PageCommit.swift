import Foundation
import GRDB
import PushTypes

/// One page within a transaction.
struct PageCommit {
    private let page: PageResult
    /// Is set for a page that is about to be sent: its lease is kept.
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

    /// `nil` if the notification is gone.
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

    private var mayGoOn: Bool { self.page.pauses == nil && (self.state == .accepted || self.state == .sending) }

    func run() throws -> StartedPage {
        if let reason = self.page.pauses { try SQLiteStore.pause(self.number, reason: reason, in: self.database) }
        guard try self.isMine() else { return StartedPage(answer: .notYours, begun: []) }
        var counts: [DeliveryRecord.State: Int] = [:]
        var begun: Set<Int64> = []
        let hasHeld = try self.hasHeld()
        for delivery in self.page.deliveries where try self.finish(delivery, hasHeld: hasHeld) {
            counts[delivery.state, default: 0] += 1
            if delivery.state == .sending { begun.insert(delivery.recipient) }
        }
        let departed = try self.page.departures.filter { try self.leave($0, hasHeld: hasHeld) }
        counts[.skipped, default: 0] += departed.count
        for retry in self.page.retries { try self.postpone(retry) }
        try SentTokenHistory(app: self.app, database: self.database).correct(self.page)
        try self.learn()
        try self.advance(counts)
        try self.note(counts)
        let events = [self.page.events].compactMap { $0 } + departed.compactMap(\.event)
        if !events.isEmpty { try self.keep(Data(events.joined(separator: Data(",".utf8)))) }
        if !self.begins { try self.end() }
        return StartedPage(answer: self.mayGoOn ? .goesOn : .stops, begun: begun)
    }

    /// Tells whether the lease and the cursor are what the claim saw.
    private func isMine() throws -> Bool {
        guard let fence = self.page.fence, try Leases.isHeld(fence, by: self.owner, in: self.database) else {
            return false
        }
        guard let step = self.page.step else { return true }
        let statement = try RawStatement(
            "SELECT 1 FROM shard WHERE notification = ? AND number = ? AND lease = ? AND cursor = ?",
            in: self.database
        )
        defer { statement.reset() }
        statement.bind(self.number, at: 1)
        statement.bind(step.shard, at: 2)
        statement.bind(fence, at: 3)
        statement.bind(step.from, at: 4)
        return try statement.step()
    }

    private func learn() throws {
        guard !self.page.findings.isEmpty else { return }
        let hygiene = TokenInvalidation(app: self.app, notification: self.id, now: self.now, database: self.database)
        let last = try TokenEventWriter.last(in: self.database)
        for finding in self.page.findings { try hygiene.apply(finding) }
        try TokenEventWriter.announce(after: last, app: self.app, at: self.now, in: self.database)
    }

    /// Ends the lease unless the walk goes on under it, and the notification if this was the last of it.
    private func end() throws {
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

    /// A notification that may not go on does not come back to give its shard back.
    private var keptUntil: Timestamp? { self.mayGoOn ? self.page.step?.leaseUntil : nil }

    /// Writes a state unless there is a final one. Whether it did.
    private func finish(_ delivery: DeliveryResult, hasHeld: Bool) throws -> Bool {
        // A recipient of the walk is not in the queue, unless it moved between the zones of two pages in flight.
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

    /// Skips a recipient whose device is gone, or queues it if that has come back since the page was read. Whether it
    /// was skipped.
    private func leave(_ departure: RemovedRecipient, hasHeld: Bool) throws -> Bool {
        let delivery = departure.delivery
        let device = try RawStatement("SELECT 1 FROM device WHERE id = ? AND hasLeft = 0", in: self.database)
        defer { device.reset() }
        device.bind(delivery.recipient, at: 1)
        guard try device.step() else { return try self.finish(delivery, hasHeld: hasHeld) }
        try self.postpone(RetryResult(recipient: delivery.recipient, attempts: delivery.attempts, dueAt: .atOnce))
        return false
    }

    /// Tells whether some of the notification's recipients wait for the end of the walk.
    private func hasHeld() throws -> Bool {
        guard self.page.step != nil else { return false }
        let statement = try RawStatement(
            "SELECT 1 FROM retry INDEXED BY retryByDue WHERE notification = ? AND dueAt = \(RetryQueue.endOfWalk) LIMIT 1",
            in: self.database
        )
        defer { statement.reset() }
        statement.bind(self.number, at: 1)
        return try statement.step()
    }

    private func removeHeld(_ recipient: Int64) throws {
        let statement = try RawStatement(
            "DELETE FROM retry WHERE notification = ? AND recipient = ? AND dueAt = \(RetryQueue.endOfWalk)",
            in: self.database
        )
        statement.bind(self.number, at: 1)
        statement.bind(recipient, at: 2)
        try statement.run()
    }

    private func removeRetry(of recipient: Int64) throws {
        let statement = try RawStatement(
            "DELETE FROM retry WHERE notification = ? AND recipient = ? AND lease = ?",
            in: self.database
        )
        statement.bind(self.number, at: 1)
        statement.bind(recipient, at: 2)
        statement.bind(self.page.fence, at: 3)
        try statement.run()
    }

    /// Queues a recipient unless it has a final state, at once if it is only to be ended. What at-most-once had begun is
    /// undone: it was not sent.
    private func postpone(_ retry: RetryResult) throws {
        if retry.dueAt == .endOfWalk { return try self.hold(retry.recipient) }
        let begun = try RawStatement(
            "DELETE FROM delivery WHERE notification = ? AND recipient = ? AND state = 0",
            in: self.database
        )
        begun.bind(self.number, at: 1)
        begun.bind(retry.recipient, at: 2)
        try begun.run()
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

    /// Queues a recipient for the end of the walk, unless another page has begun it or it waits for another try.
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
        let dueAt = self.state == .cancelled ? self.now : .endOfWalk
        statement.bind(self.number, at: 1)
        statement.bind(recipient, at: 2)
        statement.bind(self.lane.rawValue, at: 3)
        statement.bind(self.app, at: 4)
        statement.bind(dueAt.milliseconds, at: 5)
        try statement.run()
    }

    private func advance(_ counts: [DeliveryRecord.State: Int]) throws {
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

    /// Writes what belongs to the whole notification: for most pages of a walk, nothing.
    private func note(_ counts: [DeliveryRecord.State: Int]) throws {
        let isWalk = self.page.step != nil
        let hasNews = self.page.nextPageAt != nil || self.page.wave != nil || self.state == .accepted
        guard !isWalk || !self.hasStarted || hasNews else { return }
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
        // A walk's are the shard's.
        statement.bind(isWalk ? [:] : counts, at: 5)
        statement.bind(isWalk ? nil : self.now.milliseconds, at: 9)
        statement.bind(self.number, at: 10)
        try statement.run()
    }

    private func keep(_ events: Data) throws {
        try self.database.execute(
            sql: "INSERT INTO eventBlock (app, kind, at, events) VALUES (?, ?, ?, ?)",
            arguments: [self.app, WebhookRecord.Event.delivery.rawValue, self.now.milliseconds, events]
        )
    }
}

extension RawStatement {
    /// Binds how many recipients were accepted, rejected, failed and skipped, at four positions.
    fileprivate func bind(_ counts: [DeliveryRecord.State: Int], at position: Int32) {
        let states: [DeliveryRecord.State] = [.accepted, .rejected, .failed, .skipped]
        for (offset, state) in states.enumerated() {
            self.bind(Int64(counts[state] ?? 0), at: position + Int32(offset))
        }
    }
}
