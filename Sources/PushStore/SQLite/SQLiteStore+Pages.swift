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
                    WHERE retry.lane = ? AND dueAt <= ? AND state IN ('accepted', 'sending') LIMIT 1
                    """,
                arguments: [lane.rawValue, now.milliseconds]
            ) != nil
        }
        guard isThereAny else { return [] }
        return try await self.database.write { database in
            let due = try Self.takeRetries(lane: lane, now: now, until: until, limit: limit, in: database)
            return try Self.claims(due, needs: needs, in: database)
        }
    }

    package func begun(limit: Int) async throws -> [RetryClaim] {
        try await self.database.read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT delivery.notification AS number, recipient, attempts
                    FROM delivery JOIN notification ON notification.number = delivery.notification
                    WHERE delivery.state = 0 ORDER BY delivery.notification LIMIT ?
                    """,
                arguments: [limit]
            )
            var begun: [Int64: [DueRetry]] = [:]
            for row in rows {
                guard let number = row["number"] as Int64?, let recipient = row["recipient"] as Int64?,
                    let attempts = row["attempts"] as Int?
                else { throw DamagedRow(table: "delivery") }
                begun[number, default: []].append(DueRetry(recipient: recipient, attempts: attempts))
            }
            let due = begun.sorted { $0.key < $1.key }.map { (number: $0.key, retries: $0.value) }
            return try Self.claims(due, needs: { _ in .user }, in: database)
        }
    }

    /// With what is known of the recipients now.
    private static func claims(
        _ due: [(number: Int64, retries: [DueRetry])],
        needs: (NotificationRecord) -> RecipientNeeds,
        in database: Database
    ) throws -> [RetryClaim] {
        try due.compactMap { due in
            guard
                let row = try Row.fetchOne(
                    database,
                    sql: "SELECT * FROM notification WHERE number = ?",
                    arguments: [due.number]
                )
            else { return nil }
            let notification = try NotificationRow.record(row)
            let query = RecipientQuery(notification, number: due.number, needs: needs(notification))
            let recipients = try due.retries.map { try query.fetch($0, in: database) }
            return RetryClaim(notification: notification, notificationNumber: due.number, recipients: recipients)
        }
    }

    /// A recipient's line in the queue.
    struct DueRetry {
        var recipient: Int64
        var environment: PushEnvironment?
        var attempts: Int
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
            SELECT retry.notification, recipient, retry.environment, attempts
            FROM retry JOIN notification ON notification.number = retry.notification
            WHERE retry.lane = ? AND dueAt <= ? AND state IN ('accepted', 'sending') ORDER BY dueAt LIMIT ?
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
                attempts: Int(clamping: select.integer(3))
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
