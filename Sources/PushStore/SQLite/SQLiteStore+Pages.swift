import GRDB
package import PushProtocol

extension SQLiteStore {
    package func page(_ claim: ShardClaim, limit: Int, needs: RecipientNeeds) async throws -> RecipientPage {
        let query = RecipientQuery(claim, limit: limit, needs: needs)
        let found = try await self.database.read { database in
            try query.fetch(driver: try self.driver(of: claim, in: database), in: database)
        }
        let isLast = found.recipients.count + found.unreadable.count < limit
        // A named token's recipient is its position, below zero.
        let last = max(abs(found.recipients.last?.id ?? 0), abs(found.unreadable.last?.id ?? 0))
        return RecipientPage(
            recipients: found.recipients,
            unreadable: found.unreadable,
            cursor: isLast ? claim.end : last,
            isLast: isLast
        )
    }

    /// Chosen once for each notification; `nil` if all devices are to be walked over.
    private func driver(of claim: ShardClaim, in database: Database) throws -> AudienceDriver? {
        guard claim.isNarrow, case .devices(let audience) = claim.notification.audience else { return nil }
        return try self.drivers.driver(of: claim.notificationNumber) {
            let app = claim.notification.app
            return try AudienceDriver.choose(audience, app: app, limit: .max, in: database)
        }
    }

    package func dueRetries(
        lane: NotificationRecord.Lane,
        now: Timestamp,
        until: Timestamp,
        limit: Int,
        from filter: ClaimFilter,
        needs: @Sendable @escaping (NotificationRecord) -> RecipientNeeds
    ) async throws -> [RetryClaim] {
        // Most questions find nothing: they should not wait for the writer.
        let isThereAny = try await self.database.read { database in
            try Self.appToRetry(lane: lane, now: now, excluding: filter.apps, in: database) != nil
        }
        guard isThereAny else { return [] }
        return try await self.database.write { database in
            guard let app = try Self.appToRetry(lane: lane, now: now, excluding: filter.apps, in: database) else {
                return []
            }
            let due = try Self.dueRetries(lane: lane, app: app, now: now, limit: limit, in: database)
                .filter { filter.isFree($0.notification, $0.recipient) }
            try Self.lease(due, until: until, in: database)
            return try Self.byNotification(due).compactMap { due in
                guard let notification = try Self.retried(due.number, in: database) else { return nil }
                let query = RecipientQuery(notification, number: due.number, needs: needs(notification))
                let recipients = try due.retries.map {
                    try query.fetch($0, isCancelled: notification.state == .cancelled, in: database)
                }
                return RetryClaim(
                    notification: notification,
                    notificationNumber: due.number,
                    recipients: recipients
                )
            }
        }
    }

    /// The app whose oldest retry is due longest and may be taken.
    private static func appToRetry(
        lane: NotificationRecord.Lane,
        now: Timestamp,
        excluding apps: Set<Int64>,
        in database: Database
    ) throws -> Int64? {
        let waiting = try Int64.fetchAll(
            database,
            sql: """
                SELECT id FROM (
                    SELECT id, (SELECT min(dueAt) FROM retry WHERE retry.lane = ? AND retry.app = app.id) AS first
                    FROM app)
                WHERE first <= ? ORDER BY first
                """,
            arguments: [lane.rawValue, now.milliseconds]
        )
        let first = try database.cachedStatement(
            sql: """
                SELECT 1 FROM retry JOIN notification ON notification.number = retry.notification
                WHERE retry.lane = ? AND retry.app = ? AND dueAt <= ? AND \(Self.mayRetry) LIMIT 1
                """
        )
        return try waiting.first { app in
            guard !apps.contains(app) else { return false }
            return try Row.fetchOne(first, arguments: [lane.rawValue, app, now.milliseconds]) != nil
        }
    }

    private static func retried(_ number: Int64, in database: Database) throws -> NotificationRecord? {
        let sql = "SELECT * FROM notification WHERE number = ?"
        guard let row = try Row.fetchOne(database, sql: sql, arguments: [number]) else { return nil }
        return try Self.readable(row, orElse: { try Self.setAside([$0], in: database) }) {
            try NotificationRow.record($0)
        }
    }

    /// A recipient's line in the queue.
    struct DueRetry {
        var notification: Int64
        var recipient: Int64
        var environment: PushEnvironment?
        var attempts: Int
        /// Whether at-most-once had begun it when the process ended.
        var isInterrupted: Bool
    }

    private static func dueRetries(
        lane: NotificationRecord.Lane,
        app: Int64,
        now: Timestamp,
        limit: Int,
        in database: Database
    ) throws -> [DueRetry] {
        let select = try RawStatement(
            """
            SELECT retry.notification, retry.recipient, retry.environment, retry.attempts, delivery.state
            FROM retry JOIN notification ON notification.number = retry.notification
            LEFT JOIN delivery ON delivery.notification = retry.notification
                AND delivery.recipient = retry.recipient AND delivery.state = 0
            WHERE retry.lane = ? AND retry.app = ? AND dueAt <= ? AND \(Self.mayRetry) ORDER BY dueAt LIMIT ?
            """,
            in: database
        )
        defer { select.reset() }
        select.bind(lane.rawValue, at: 1)
        select.bind(app, at: 2)
        select.bind(now.milliseconds, at: 3)
        select.bind(Int64(limit), at: 4)
        var due: [DueRetry] = []
        while try select.step() {
            due.append(
                DueRetry(
                    notification: select.integer(0),
                    recipient: select.integer(1),
                    environment: select.isNull(2) ? nil : PushEnvironment(code: select.integer(2)),
                    attempts: Int(clamping: select.integer(3)),
                    isInterrupted: !select.isNull(4)
                )
            )
        }
        return due
    }

    private static func lease(_ due: [DueRetry], until: Timestamp, in database: Database) throws {
        for retry in due {
            let lease = try RawStatement(
                "UPDATE retry SET dueAt = ?, isLeased = 1 WHERE notification = ? AND recipient = ?",
                in: database
            )
            lease.bind(until.milliseconds, at: 1)
            lease.bind(retry.notification, at: 2)
            lease.bind(retry.recipient, at: 3)
            try lease.run()
        }
    }

    private static func byNotification(_ due: [DueRetry]) -> [(number: Int64, retries: [DueRetry])] {
        Dictionary(grouping: due, by: \.notification).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
