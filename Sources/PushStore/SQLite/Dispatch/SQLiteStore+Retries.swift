import GRDB
package import PushTypes

extension SQLiteStore {
    package func dueRetries(
        lane: NotificationRecord.Lane,
        now: Timestamp,
        until: Timestamp,
        limit: Int,
        from filter: ClaimFilter
    ) async throws -> [RetryClaim] {
        let owner = try await self.owner.number(self.database)
        // Most calls find nothing: they should not wait for the writer.
        let isThereAny = try await self.database.read { database in
            try !Leases.lost(owner: owner, held: filter.held, now: now, in: database).isEmpty
                || Self.appToRetry(lane: lane, now: now, excluding: filter.apps, in: database) != nil
        }
        guard isThereAny else { return [] }
        return try await self.database.write { database in
            try Leases.releaseLost(owner: owner, held: filter.held, now: now, in: database)
            // The next app follows if everything due of one is put off.
            var excluded = filter.apps
            for _ in 0..<Self.appsAtOnce {
                guard let app = try Self.appToRetry(lane: lane, now: now, excluding: excluded, in: database)
                else { return [] }
                let due = try Self.dueRetries(lane: lane, app: app, now: now, limit: limit, in: database)
                let byNotification = Dictionary(grouping: due, by: \.notification).sorted { $0.key < $1.key }
                let claims = try byNotification.compactMap { number, retries in
                    try Self.claim(retries, of: number, owner: owner, now: now, until: until, in: database)
                }
                if !claims.isEmpty { return claims }
                excluded.insert(app)
            }
            return []
        }
    }

    /// The most apps whose due retries are examined in one transaction.
    private static let appsAtOnce = 8

    /// Claims the due recipients of a notification.
    /// - Returns: `nil` if all of them are put off.
    private static func claim(
        _ due: [DueRetry],
        of number: Int64,
        owner: Int64,
        now: Timestamp,
        until: Timestamp,
        in database: Database
    ) throws -> RetryClaim? {
        guard let (notification, openedAfter) = try Self.retried(number, in: database) else { return nil }
        let fence = try Leases.take(owner: owner, until: until, in: database)
        let lease = "UPDATE retry SET lease = ? WHERE notification = ? AND recipient = ?"
        for retry in due { try database.run(sql: lease, fence, number, retry.recipient) }
        let consent = try ConsentColumns(notification, in: database)
        let query = RecipientQuery(notification, number: number, openedAfter: openedAfter, consent: consent)
        let recipients = try Self.recipients(due, query, fence: fence, now: now, in: database)
        if recipients.isEmpty {
            try Leases.end(fence, in: database)
            return nil
        }
        return RetryClaim(
            notification: notification,
            notificationNumber: number,
            recipients: recipients,
            fence: fence,
            readAt: try RegistrationChanges.clock(in: database),
            dueSince: due.map(\.dueAt).filter { $0 > RetryQueue.departed }.min().map(Timestamp.init(milliseconds:))
        )
    }

    /// Returns the app whose oldest retry has been due longest and may be claimed.
    private static func appToRetry(
        lane: NotificationRecord.Lane,
        now: Timestamp,
        excluding apps: Set<Int64>,
        in database: Database
    ) throws -> Int64? {
        let sql = """
            SELECT id FROM (
                SELECT id, (
                    SELECT min(dueAt) FROM retry
                    WHERE retry.lane = ? AND retry.app = app.id AND lease IS NULL) AS first
                FROM app)
            WHERE first <= ? ORDER BY first
            """
        let waiting = try database.integers(sql: sql, [lane.rawValue, now.milliseconds])
        let mayClaim = """
            SELECT 1 FROM retry JOIN notification ON notification.number = retry.notification
            WHERE retry.lane = ? AND retry.app = ? AND dueAt <= ? AND lease IS NULL AND \(Self.mayRetry) LIMIT 1
            """
        return try waiting.first { app in
            try !apps.contains(app) && database.hasRow(sql: mayClaim, lane.rawValue, app, now.milliseconds)
        }
    }

    /// Returns a notification and the registration clock at its opening. One that cannot be read is paused.
    private static func retried(
        _ number: Int64,
        in database: Database
    ) throws -> (NotificationRecord, openedAfter: Int64)? {
        let sql = "SELECT * FROM notification WHERE number = ?"
        guard let row = try database.row(sql: sql, [number]) else { return nil }
        return try Self.readable(row, orElse: { try Self.setAside([$0], in: database) }) {
            (try NotificationRow.record($0), $0["openedAfter"] as Int64? ?? 0)
        }
    }

    /// Returns the recipients that are tried or ended now. The others wait for the final states that they depend on.
    private static func recipients(
        _ due: [DueRetry],
        _ query: RecipientQuery,
        fence: Int64,
        now: Timestamp,
        in database: Database
    ) throws -> [RetryRecipient] {
        let isCancelled = query.notification.state == .cancelled
        var departed: [(retry: DueRetry, end: EndedRetry)] = []
        let present: [RetryRecipient] = try due.compactMap { retry in
            switch try query.fetch(retry, fence: fence, isCancelled: isCancelled, in: database) {
            case .now(let recipient): return recipient
            case .later(let until):
                let longest = now.advanced(by: Self.longestPause)
                let pause = max(now.advanced(by: Self.dependentPause), min(until ?? now, longest))
                try Self.putOff(retry, until: pause.milliseconds, in: database)
            case .last(let end): departed.append((retry, end))
            }
            return nil
        }
        return try present + Self.ends(of: departed, notification: query.number, in: database)
    }

    /// Ends recipients whose devices have left. While others have no final state, they are put off instead.
    private static func ends(
        of departed: [(retry: DueRetry, end: EndedRetry)],
        notification: Int64,
        in database: Database
    ) throws -> [RetryRecipient] {
        guard !departed.isEmpty else { return [] }
        let mark = "UPDATE retry SET dueAt = \(RetryQueue.departed) WHERE notification = ? AND recipient = ?"
        for (retry, _) in departed { try database.run(sql: mark, notification, retry.recipient) }
        guard try Completion.hasPresentRecipients(notification, in: database)
        else { return departed.map { .ended($0.end) } }
        for (retry, _) in departed { try Self.putOff(retry, until: RetryQueue.afterOthers, in: database) }
        return []
    }

    /// The shortest time between two checks of what a recipient depends on, once all shards have been read.
    private static let dependentPause: Duration = .seconds(5)
    /// The longest time between two such checks.
    private static let longestPause: Duration = .seconds(60)

    /// Releases a recipient until a due time in the form that ``RetryQueue`` has.
    private static func putOff(_ retry: DueRetry, until: Int64, in database: Database) throws {
        let sql = """
            UPDATE retry SET lease = NULL, dueAt = CASE WHEN EXISTS (
                SELECT 1 FROM shard WHERE shard.notification = retry.notification AND isDone = 0)
                THEN \(RetryQueue.afterShards) ELSE ? END
            WHERE notification = ? AND recipient = ?
            """
        try database.run(sql: sql, until, retry.notification, retry.recipient)
    }

    /// A recipient's row in the queue.
    struct DueRetry {
        var notification, recipient: Int64
        var environment: PushEnvironment?
        var attempts: Int
        /// Indicates whether at-most-once had started it when the process ended.
        var isInterrupted: Bool
        /// See ``Recipient/mayHaveArrived``.
        var mayHaveArrived: Bool
        /// The time of the try in milliseconds, by the steady clock.
        var dueAt: Int64
    }

    /// Returns rows of the queue that are due, of one app.
    private static func dueRetries(
        lane: NotificationRecord.Lane,
        app: Int64,
        now: Timestamp,
        limit: Int,
        in database: Database
    ) throws -> [DueRetry] {
        let sql = """
            SELECT retry.notification, retry.recipient, retry.environment, retry.attempts, delivery.state, dueAt,
                mayHaveArrived
            FROM retry JOIN notification ON notification.number = retry.notification
            LEFT JOIN delivery ON delivery.notification = retry.notification
                AND delivery.recipient = retry.recipient AND delivery.state = 0
            WHERE retry.lane = ? AND retry.app = ? AND dueAt <= ? AND lease IS NULL AND \(Self.mayRetry)
            ORDER BY dueAt LIMIT ?
            """
        let select = try RawStatement(sql: sql, in: database)
        defer { select.reset() }
        select.bind(lane.rawValue, app, now.milliseconds, Int64(limit))
        var due: [DueRetry] = []
        while try select.step() {
            due.append(
                DueRetry(
                    notification: select.integer(0),
                    recipient: select.integer(1),
                    environment: select.isNull(2) ? nil : PushEnvironment(code: select.integer(2)),
                    attempts: Int(clamping: select.integer(3)),
                    isInterrupted: !select.isNull(4),
                    mayHaveArrived: select.integer(6) != 0,
                    dueAt: select.integer(5)
                )
            )
        }
        return due
    }

}
