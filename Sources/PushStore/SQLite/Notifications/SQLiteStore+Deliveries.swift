package import Foundation
import GRDB
package import PushTypes

extension SQLiteStore {
    /// Returns a statement that selects deliveries with what is known of their recipients.
    /// - Parameter wanted: the beginning of its FROM clause, which must contain `delivery`.
    private static func select(from wanted: String = "delivery") -> String {
        """
        SELECT notification.id AS notificationID, notification.number AS position, delivery.recipient, delivery.state, attempts, at,
            reason.text AS reason, coalesce(delivery.device, device.id) AS device,
            coalesce(target.token, device.token) AS token,
            coalesce(target.environment, device.environment) AS environment
        FROM \(wanted) JOIN notification ON notification.number = delivery.notification
        LEFT JOIN device ON device.id = delivery.recipient
        LEFT JOIN target ON target.notification = delivery.notification AND target.position = -delivery.recipient
        LEFT JOIN reason ON reason.id = delivery.reason
        """
    }

    /// Returns a statement that selects the deliveries of the keys of a query. SQLite's planner must begin with those,
    /// not with the ledger.
    private static func select(keys: String) -> String {
        Self.select(
            from: """
                (\(keys)) AS wanted CROSS JOIN delivery
                ON delivery.notification = wanted.notification AND delivery.recipient = wanted.recipient
                """
        )
    }

    package func deliveries(
        of notification: UUID,
        state: DeliveryRecord.State?,
        after: Int64?,
        limit: Int
    ) async throws -> [DeliveryRecord] {
        let filter = state.map { " AND delivery.state = \($0.rawValue)" } ?? ""
        return try await self.deliveries(
            """
            \(Self.select())
            WHERE delivery.notification = (SELECT number FROM notification WHERE id = ?)
                AND delivery.recipient > ?\(filter)
            ORDER BY delivery.recipient LIMIT ?
            """,
            [notification.uuidString, after ?? .min, limit]
        )
    }

    package func delivery(
        of notificationPrefix: DeliveryPrefix,
        recipient: Int64
    ) async throws -> DeliveryRecord? {
        try await self.deliveries(
            """
            \(Self.select())
            WHERE delivery.notification = (SELECT number FROM notification WHERE prefix = ?)
                AND delivery.recipient = ?
            """,
            [notificationPrefix.bits, recipient]
        ).first
    }

    package func horizon(
        app: Int64,
        before: NotificationCursor?,
        campaigns: Int
    ) async throws -> NotificationCursor? {
        try await self.database.query { database in
            try Int64.fetchOne(
                database,
                sql: """
                    SELECT number FROM notification INDEXED BY notificationInBulk
                    WHERE app = ? AND lane = 1 AND number < ? ORDER BY number DESC LIMIT 1 OFFSET ?
                    """,
                arguments: [app, before?.number ?? .max, max(0, campaigns - 1)]
            ).map(NotificationCursor.init)
        }
    }

    package func deliveries(
        app: Int64,
        device: Int64,
        before: NotificationCursor?,
        horizon: NotificationCursor?,
        limit: Int
    ) async throws -> [DeliveryRecord] {
        // The deliveries of campaigns have no index by device: each campaign is searched for this one.
        try await self.deliveries(
            """
            \(Self.select(
                keys: """
                    SELECT notification, recipient FROM delivery
                    WHERE device = ?1 AND notification < ?4 AND notification >= ?5
                    UNION SELECT number, ?1 FROM notification
                    WHERE app = ?2 AND lane = 1 AND number < ?4 AND number >= ?5
                    """
            ))
            WHERE notification.app = ?2 ORDER BY delivery.notification DESC, delivery.at DESC LIMIT ?3
            """,
            [device, app, limit, before?.number ?? .max, horizon?.number ?? .min]
        )
    }

    package func deliveries(
        app: Int64,
        unregistered token: DeviceToken,
        before: NotificationCursor?,
        horizon: NotificationCursor?,
        limit: Int
    ) async throws -> [DeliveryRecord] {
        try await self.deliveries(
            """
            \(Self.select(
                keys: """
                    SELECT notification, -position AS recipient FROM target
                    WHERE token = ? AND notification < ? AND notification >= ?
                    """
            ))
            WHERE notification.app = ? ORDER BY delivery.notification DESC, delivery.at DESC LIMIT ?
            """,
            [Data(token.bytes), before?.number ?? .max, horizon?.number ?? .min, app, limit]
        )
    }

    private func deliveries(
        _ sql: String,
        _ arguments: [any DatabaseValueConvertible & Sendable]
    ) async throws -> [DeliveryRecord] {
        try await self.database.query { database in
            try Row.fetchAll(
                database,
                sql: sql,
                arguments: StatementArguments(arguments)
            ).map(Self.delivery)
        }
    }

    private static func delivery(_ row: Row) throws -> DeliveryRecord {
        guard let notification = row.uuid("notificationID"), let recipient = row["recipient"] as Int64?,
            let position = row["position"] as Int64?,
            let state = (row["state"] as Int64?).flatMap(DeliveryRecord.State.init(rawValue:)),
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
