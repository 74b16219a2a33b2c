import GRDB
package import PushProtocol

extension SQLiteStore {
    package func page(_ claim: ShardClaim, limit: Int, needs: RecipientNeeds) async throws -> RecipientPage {
        let query = RecipientQuery(claim, limit: limit, needs: needs)
        let recipients = try await self.database.read { database in
            try query.fetch(driver: try self.driver(of: claim, in: database), in: database)
        }
        let isLast = recipients.count < limit
        return RecipientPage(
            recipients: recipients,
            // A named token's recipient is its position, below zero.
            cursor: isLast ? claim.end : recipients.last.map { abs($0.id) } ?? claim.end,
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
        needs: @Sendable @escaping (NotificationRecord) -> RecipientNeeds
    ) async throws -> [RetryClaim] {
        // Most questions find nothing: they should not wait for the writer.
        let isThereAny = try await self.database.read { database in
            try Row.fetchOne(
                database,
                sql: """
                    SELECT 1 FROM retry JOIN notification ON notification.number = retry.notification
                    WHERE retry.lane = ? AND dueAt <= ? AND \(Self.mayRetry) LIMIT 1
                    """,
                arguments: [lane.rawValue, now.milliseconds]
            ) != nil
        }
        guard isThereAny else { return [] }
        return try await self.database.write { database in
            try Self.takeRetries(lane: lane, now: now, until: until, limit: limit, in: database).compactMap { due in
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

    private static func retried(_ number: Int64, in database: Database) throws -> NotificationRecord? {
        let sql = "SELECT * FROM notification WHERE number = ?"
        guard let row = try Row.fetchOne(database, sql: sql, arguments: [number]) else { return nil }
        return try Self.readable(row, orElse: { try Self.setAside([$0], in: database) }) {
            try NotificationRow.record($0)
        }
    }

    /// A recipient's line in the queue.
    struct DueRetry {
        var recipient: Int64
        var environment: PushEnvironment?
        var attempts: Int
        /// Whether at-most-once had begun it when the process ended.
        var isInterrupted: Bool
    }

    private static func takeRetries(
        lane: NotificationRecord.Lane,
        now: Timestamp,
        until: Timestamp,
        limit: Int,
        in database: Database
    ) throws -> [(number: Int64, retries: [DueRetry])] {
        let select = try RawStatement(
            """
            SELECT retry.notification, retry.recipient, retry.environment, retry.attempts, delivery.state
            FROM retry JOIN notification ON notification.number = retry.notification
            LEFT JOIN delivery ON delivery.notification = retry.notification
                AND delivery.recipient = retry.recipient AND delivery.state = 0
            WHERE retry.lane = ? AND dueAt <= ? AND \(Self.mayRetry) ORDER BY dueAt LIMIT ?
            """,
            in: database
        )
        defer { select.reset() }
        select.bind(lane.rawValue, at: 1)
        select.bind(now.milliseconds, at: 2)
        select.bind(Int64(limit), at: 3)
        var due: [Int64: [DueRetry]] = [:]
        while try select.step() {
            let environment = select.isNull(2) ? nil : PushEnvironment(code: select.integer(2))
            let retry = DueRetry(
                recipient: select.integer(1),
                environment: environment,
                attempts: Int(clamping: select.integer(3)),
                isInterrupted: !select.isNull(4)
            )
            due[select.integer(0), default: []].append(retry)
        }
        select.reset()
        for (number, retries) in due {
            for retry in retries {
                let lease = try RawStatement(
                    "UPDATE retry SET dueAt = ?, isLeased = 1 WHERE notification = ? AND recipient = ?",
                    in: database
                )
                lease.bind(until.milliseconds, at: 1)
                lease.bind(number, at: 2)
                lease.bind(retry.recipient, at: 3)
                try lease.run()
            }
        }
        return due.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
