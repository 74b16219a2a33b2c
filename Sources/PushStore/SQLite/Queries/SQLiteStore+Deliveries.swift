package import Foundation
import GRDB
package import PushTypes

extension SQLiteStore {
    /// Reads deliveries with what is known of their recipients.
    /// - Parameters:
    ///   - keys: A query for the keys of the deliveries, with which SQLite's planner must begin, and not with the ledger.
    ///   - condition: The end of the statement, from its WHERE clause.
    private func deliveries(
        keys: String? = nil,
        _ condition: String,
        _ arguments: [any DatabaseValueConvertible & Sendable]
    ) async throws -> [DeliveryRecord] {
        try await self.database.query { try Self.deliveries(keys: keys, condition, arguments, in: $0) }
    }

    private static func deliveries(
        keys: String? = nil,
        _ condition: String,
        _ arguments: [any DatabaseValueConvertible & Sendable],
        in database: Database
    ) throws -> [DeliveryRecord] {
        let source = keys.map {
            """
            (\($0)) AS wanted CROSS JOIN delivery
            ON delivery.notification = wanted.notification AND delivery.recipient = wanted.recipient
            """
        }
        let sql = """
            SELECT notification.id AS notificationID, notification.number AS position, delivery.recipient, receipts,
                delivery.state, attempts, at, reason.text AS reason, coalesce(delivery.device, device.id) AS device,
                coalesce(target.token, device.token) AS token,
                coalesce(target.environment, device.environment) AS environment
            FROM \(source ?? "delivery") JOIN notification ON notification.number = delivery.notification
            LEFT JOIN device ON device.id = delivery.recipient
            LEFT JOIN target ON target.notification = delivery.notification AND target.position = -delivery.recipient
            LEFT JOIN reason ON reason.id = delivery.reason
            \(condition)
            """
        return try database.rows(sql: sql, StatementArguments(arguments)).map { row in
            var delivery = try Self.delivery(row)
            guard row.value("receipts") == ReceiptPrivacy.device else { return delivery }
            let (number, subject) = (delivery.position.number, delivery.device ?? delivery.recipient)
            delivery.receipts = try Self.receipts(of: number, subject: subject, in: database)
            return delivery
        }
    }

    package func deliveries(
        of notification: UUID,
        state: DeliveryRecord.State?,
        reason: String?,
        after: Int64?,
        limit: Int
    ) async throws -> [DeliveryRecord] {
        try await self.database.query { database in
            try Self.deliveries(
                of: notification,
                state: state,
                reason: reason,
                after: after,
                limit: limit,
                in: database
            )
        }
    }

    static func deliveries(
        of notification: UUID,
        state: DeliveryRecord.State?,
        reason: String?,
        after: Int64?,
        limit: Int,
        in database: Database
    ) throws -> [DeliveryRecord] {
        var filter = state.map { " AND delivery.state = \($0.rawValue)" } ?? ""
        // These have an index of their own.
        if let state, state != .sending, state != .accepted { filter += " AND delivery.state > 1" }
        if reason != nil { filter += " AND delivery.reason = (SELECT id FROM reason WHERE text = ?)" }
        let condition = """
            WHERE delivery.notification = (SELECT number FROM notification WHERE id = ?)
                AND delivery.recipient > ?\(filter)
            ORDER BY delivery.recipient LIMIT ?
            """
        let reasons = reason.map { [$0 as any DatabaseValueConvertible & Sendable] } ?? []
        let key: [any DatabaseValueConvertible & Sendable] = [notification.uuidString, after ?? .min]
        let arguments = key + reasons + [limit]
        return try Self.deliveries(condition, arguments, in: database)
    }

    package func delivery(of notificationPrefix: DeliveryPrefix, recipient: Int64) async throws -> DeliveryRecord? {
        try await self.database.query { try Self.delivery(of: notificationPrefix, recipient: recipient, in: $0) }
    }

    static func delivery(
        of notificationPrefix: DeliveryPrefix,
        recipient: Int64,
        in database: Database
    ) throws -> DeliveryRecord? {
        let condition = """
            WHERE delivery.notification = (SELECT number FROM notification WHERE prefix = ?) AND delivery.recipient = ?
            """
        return try Self.deliveries(condition, [notificationPrefix.bits, recipient], in: database).first
    }

    package func horizon(app: Int64, before: NotificationCursor?, campaigns: Int) async throws -> NotificationCursor? {
        let sql = """
            SELECT number FROM notification INDEXED BY notificationInBulk
            WHERE app = ? AND lane = 1 AND number < ? ORDER BY number DESC LIMIT 1 OFFSET ?
            """
        let arguments: StatementArguments = [app, before?.number ?? .max, max(0, campaigns - 1)]
        return try await self.database.query { try $0.integer(sql: sql, arguments).map(NotificationCursor.init) }
    }

    package func deliveries(
        app: Int64,
        period: UserPeriod,
        before: NotificationCursor?,
        horizon: NotificationCursor?,
        limit: Int
    ) async throws -> [DeliveryRecord] {
        // The deliveries of campaigns have no index by device: each campaign is searched for this one.
        let keys = """
            SELECT notification, recipient FROM delivery WHERE device = ?1 AND notification < ?4 AND notification >= ?5
            UNION SELECT number, ?1 FROM notification
            WHERE app = ?2 AND lane = 1 AND number < ?4 AND number >= ?5
            """
        let (last, first) = (before?.number ?? .max, horizon?.number ?? .min)
        let (since, until) = (period.since?.milliseconds ?? .min, period.until?.milliseconds ?? .max)
        return try await self.deliveries(
            keys: keys,
            Self.newestFirst,
            [period.device, app, limit, last, first, since, until]
        )
    }

    package func deliveries(
        app: Int64,
        unregistered token: DeviceToken,
        since: Timestamp?,
        before: NotificationCursor?,
        horizon: NotificationCursor?,
        limit: Int
    ) async throws -> [DeliveryRecord] {
        let keys = """
            SELECT notification, -position AS recipient FROM target
            WHERE token = ?1 AND notification < ?4 AND notification >= ?5
            """
        let (last, first) = (before?.number ?? .max, horizon?.number ?? .min)
        return try await self.deliveries(
            keys: keys,
            Self.newestFirst,
            [Data(token.bytes), app, limit, last, first, since?.milliseconds ?? .min, Int64.max]
        )
    }

    private static let newestFirst = """
        WHERE notification.app = ?2
            AND (?6 = \(Int64.min) AND ?7 = \(Int64.max)
                OR \(DeviceUsers.sentAt) > ?6 AND \(DeviceUsers.sentAt) <= ?7)
        ORDER BY delivery.notification DESC, delivery.at DESC LIMIT ?3
        """

    private static func delivery(_ row: Row) throws -> DeliveryRecord {
        guard let notification = row.uuid("notificationID"), let recipient = row["recipient"] as Int64?,
            let position = row["position"] as Int64?,
            let state = row.value("state") as DeliveryRecord.State?,
            let attempts = row["attempts"] as Int?, let at = row.time("at")
        else { throw DamagedRow(table: "delivery") }
        return DeliveryRecord(
            notification: notification,
            position: NotificationCursor(number: position),
            recipient: recipient,
            device: row["device"],
            token: row.token("token"),
            environment: row.environment("environment"),
            state: state,
            reason: row["reason"],
            attempts: attempts,
            at: at
        )
    }
}
