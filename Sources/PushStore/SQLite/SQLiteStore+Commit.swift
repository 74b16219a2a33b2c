import Foundation
import GRDB
package import PushProtocol

extension SQLiteStore {
    package func begin(_ page: PageResult, now: Timestamp) async throws -> (mayGoOn: Bool, begun: Set<Int64>) {
        let answer = try await self.write([page], now: now).first
        return (answer?.mayGoOn ?? false, answer?.begun ?? [])
    }

    package func commit(_ pages: [PageResult], now: Timestamp) async throws -> [Bool] {
        try await self.write(pages, now: now).map(\.mayGoOn)
    }

    private func write(
        _ pages: [PageResult],
        now: Timestamp
    ) async throws -> [(mayGoOn: Bool, begun: Set<Int64>)] {
        let (answers, reasons) = try await self.database.write { database in
            let reasons = self.reasons.lookup()
            let answers = try pages.map { page in
                try PageCommit(page, now: now, reasons: reasons, database: database)?.run() ?? (false, [])
            }
            return (answers, reasons.found)
        }
        self.reasons.remember(reasons)
        return answers
    }
}

/// One page within a transaction.
private struct PageCommit {
    private let page: PageResult
    private let number: Int64
    private let now: Timestamp
    private let reasons: ReasonLookup
    private let database: Database
    private let id: UUID
    private let app: Int64
    private let state: NotificationRecord.State
    private let lane: NotificationRecord.Lane

    /// `nil` if the notification is gone.
    init?(_ page: PageResult, now: Timestamp, reasons: ReasonLookup, database: Database) throws {
        let row = try Row.fetchOne(
            database,
            sql: "SELECT id, app, state, lane FROM notification WHERE number = ?",
            arguments: [page.notificationNumber]
        )
        guard let row else { return nil }
        guard let id = row.uuid("id"), let app = row["app"] as Int64?,
            let state = (row["state"] as String?).flatMap(NotificationRecord.State.init(rawValue:)),
            let lane = (row["lane"] as Int64?).flatMap(NotificationRecord.Lane.init(rawValue:))
        else { throw DamagedRow(table: "notification") }
        self.page = page
        self.number = page.notificationNumber
        self.now = now
        self.reasons = reasons
        self.database = database
        (self.id, self.app, self.state, self.lane) = (id, app, state, lane)
    }

    private var mayGoOn: Bool { self.page.pauses == nil && (self.state == .accepted || self.state == .sending) }

    /// Whether the notification may go on, and whose sending has begun by this.
    func run() throws -> (mayGoOn: Bool, begun: Set<Int64>) {
        var counts: [DeliveryRecord.State: Int] = [:]
        var begun: Set<Int64> = []
        for delivery in self.page.deliveries where try self.finish(delivery) {
            counts[delivery.state, default: 0] += 1
            if delivery.state == .sending { begun.insert(delivery.recipient) }
        }
        for retry in self.page.retries { try self.postpone(retry) }
        let hygiene = TokenFindings(app: self.app, notification: self.id, now: self.now, database: self.database)
        if !self.page.findings.isEmpty {
            let last = try TokenEvents.last(in: self.database)
            for finding in self.page.findings { try hygiene.apply(finding) }
            try TokenEvents.announce(after: last, app: self.app, at: self.now, in: self.database)
        }
        try self.advance()
        try self.count(counts)
        if let events = self.page.events { try self.keep(events) }
        if let reason = self.page.pauses { try SQLiteStore.pause(self.number, reason: reason, in: self.database) }
        if self.page.step?.isLast ?? true {
            try Completion.finishIfComplete(self.number, now: self.now, in: self.database)
        }
        return (self.mayGoOn, begun)
    }

    /// Writes a state unless there is a final one. Whether it did.
    private func finish(_ delivery: DeliveryResult) throws -> Bool {
        // A recipient of the walk is in nobody's queue.
        if self.page.step == nil { try self.removeRetry(of: delivery.recipient) }
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

    private func removeRetry(of recipient: Int64) throws {
        let statement = try RawStatement(
            "DELETE FROM retry WHERE notification = ? AND recipient = ?",
            in: self.database
        )
        statement.bind(self.number, at: 1)
        statement.bind(recipient, at: 2)
        try statement.run()
    }

    /// Queues a recipient unless it has a final state, at once if it is only to be ended. What at-most-once had begun is
    /// undone: it was not sent.
    private func postpone(_ retry: RetryResult) throws {
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
            SET environment = excluded.environment, attempts = excluded.attempts, dueAt = excluded.dueAt, isLeased = 0
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

    private func advance() throws {
        guard let step = self.page.step else { return }
        let statement = try RawStatement(
            """
            UPDATE shard SET cursor = max(cursor, ?), isDone = max(isDone, ?), leaseUntil = ?,
                notBefore = max(notBefore, ?)
            WHERE notification = ? AND number = ?
            """,
            in: self.database
        )
        statement.bind(step.cursor, at: 1)
        statement.bind(step.isLast ? 1 : 0, at: 2)
        // Who may not go on does not come back to give it back.
        statement.bind(self.mayGoOn ? step.leaseUntil?.milliseconds : nil, at: 3)
        statement.bind(step.notBefore?.milliseconds ?? 0, at: 4)
        statement.bind(self.number, at: 5)
        statement.bind(step.shard, at: 6)
        try statement.run()
    }

    private func count(_ counts: [DeliveryRecord.State: Int]) throws {
        let statement = try RawStatement(
            """
            UPDATE notification SET accepted = accepted + ?, rejected = rejected + ?, failed = failed + ?,
                startedAt = coalesce(startedAt, ?4), lastPageAt = ?4, nextPageAt = max(nextPageAt, ?),
                waveStartedAt = coalesce(?, waveStartedAt), sentInWave = coalesce(?, sentInWave),
                state = CASE state WHEN 'accepted' THEN 'sending' ELSE state END
            WHERE number = ?
            """,
            in: self.database
        )
        statement.bind(Int64(counts[.accepted] ?? 0), at: 1)
        statement.bind(Int64(counts[.rejected] ?? 0), at: 2)
        statement.bind(Int64(counts[.failed] ?? 0), at: 3)
        statement.bind(self.now.milliseconds, at: 4)
        statement.bind(self.page.nextPageAt?.milliseconds ?? 0, at: 5)
        statement.bind(self.page.wave?.startedAt?.milliseconds, at: 6)
        statement.bind(self.page.wave.map { Int64($0.sent) }, at: 7)
        statement.bind(self.number, at: 8)
        try statement.run()
    }

    private func keep(_ events: Data) throws {
        try self.database.execute(
            sql: "INSERT INTO eventBlock (app, kind, at, events) VALUES (?, ?, ?, ?)",
            arguments: [self.app, WebhookRecord.Event.delivery.rawValue, self.now.milliseconds, events]
        )
    }
}
