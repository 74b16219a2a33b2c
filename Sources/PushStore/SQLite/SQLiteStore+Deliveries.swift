package import Foundation
import GRDB
package import PushProtocol

extension SQLiteStore {
    /// Deliveries with what is known of their recipients; `delivery` and `notification` are there to be filtered by.
    private static let select = """
        SELECT notification.id AS notificationID, recipient, delivery.state, attempts, at, reason.text AS reason,
            coalesce(delivery.device, device.id) AS device, coalesce(target.token, device.token) AS token,
            coalesce(target.environment, device.environment) AS environment
        FROM delivery JOIN notification ON notification.number = delivery.notification
        LEFT JOIN device ON device.id = delivery.recipient
        LEFT JOIN target ON target.notification = delivery.notification AND target.position = -delivery.recipient
        LEFT JOIN reason ON reason.id = delivery.reason
        """

    package func deliveries(
        of notification: UUID,
        state: DeliveryRecord.State?,
        after: Int64?,
        limit: Int
    ) async throws -> [DeliveryRecord] {
        let filter = state.map { " AND delivery.state = \($0.rawValue)" } ?? ""
        return try await self.deliveries(
            """
            WHERE delivery.notification = (SELECT number FROM notification WHERE id = ?) AND recipient > ?\(filter)
            ORDER BY recipient LIMIT ?
            """,
            [notification.uuidString, after ?? .min, limit]
        )
    }

    package func delivery(
        of notificationPrefix: DeliveryPrefix,
        recipient: Int64
    ) async throws -> DeliveryRecord? {
        try await self.deliveries(
            "WHERE delivery.notification = (SELECT number FROM notification WHERE prefix = ?) AND recipient = ?",
            [notificationPrefix.bits, recipient]
        ).first
    }

    package func deliveries(app: Int64, device: Int64, limit: Int) async throws -> [DeliveryRecord] {
        // A campaign's deliveries have no index by device: each campaign is asked for this one.
        try await self.deliveries(
            """
            WHERE (delivery.notification, recipient) IN (
                SELECT notification, recipient FROM delivery WHERE device = ?1
                UNION SELECT notification.number, ?1 FROM notification WHERE app = ?2 AND lane = 1)
            ORDER BY delivery.at DESC, delivery.notification DESC LIMIT ?3
            """,
            [device, app, limit]
        )
    }

    package func deliveries(
        app: Int64,
        unregistered token: DeviceToken,
        limit: Int
    ) async throws -> [DeliveryRecord] {
        try await self.deliveries(
            """
            WHERE (delivery.notification, recipient) IN (
                SELECT target.notification, -position FROM target WHERE token = ?)
                AND notification.app = ? ORDER BY delivery.at DESC, delivery.notification DESC LIMIT ?
            """,
            [Data(token.bytes), app, limit]
        )
    }

    private func deliveries(
        _ condition: String,
        _ arguments: [any DatabaseValueConvertible & Sendable]
    ) async throws -> [DeliveryRecord] {
        try await self.database.read { database in
            try Row.fetchAll(
                database,
                sql: "\(Self.select) \(condition)",
                arguments: StatementArguments(arguments)
            ).map(Self.delivery)
        }
    }

    private static func delivery(_ row: Row) throws -> DeliveryRecord {
        guard let notification = row.uuid("notificationID"), let recipient = row["recipient"] as Int64?,
            let state = (row["state"] as Int64?).flatMap(DeliveryRecord.State.init(rawValue:)),
            let attempts = row["attempts"] as Int?, let at = row.time("at")
        else { throw DamagedRow(table: "delivery") }
        return DeliveryRecord(
            notification: notification,
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
