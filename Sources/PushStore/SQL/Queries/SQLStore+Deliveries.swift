package import Foundation
package import ProviderModel
package import PushTypes

struct DeliveryRows {
    let database: any SQLConnection

    /// Returns deliveries together with the stored data of their recipients.
    /// - Parameters:
    ///   - keys: A subquery for the deliveries' keys, with which SQLite's planner must start, or `nil` for none.
    ///   - condition: The rest of the SQL query, beginning with its WHERE clause.
    fileprivate func deliveries(
        keys: String? = nil,
        _ condition: String,
        _ arguments: SQLArguments
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
        return try self.database.rows(sql: sql, arguments).map { row in
            var delivery = try DeliveryRecord(row: row)
            guard row.value("receipts") == ReceiptLevel.device else { return delivery }
            let (number, subject) = (delivery.position.number, delivery.device ?? delivery.recipient)
            delivery.receipts = try ReceiptRows(database: self.database).receipts(of: number, subject: subject)
            return delivery
        }
    }

    func deliveries(
        of notification: UUID,
        state: DeliveryRecord.State?,
        reason: String?,
        after: Int64?,
        limit: Int
    ) throws -> [DeliveryRecord] {
        var filter = state.map { " AND delivery.state = \($0.rawValue)" } ?? ""
        // A partial index covers these states.
        if let state, state != .sending, state != .accepted { filter += " AND delivery.state > 1" }
        if reason != nil { filter += " AND delivery.reason = (SELECT id FROM reason WHERE text = :reason)" }
        let condition = """
            WHERE delivery.notification = (SELECT number FROM notification WHERE id = :id)
                AND delivery.recipient > :after\(filter)
            ORDER BY delivery.recipient LIMIT :limit
            """
        var arguments: SQLArguments = ["id": notification.uuidString, "after": after ?? .min, "limit": limit]
        if let reason { arguments += ["reason": reason] }
        return try self.deliveries(condition, arguments)
    }

    func delivery(of notificationPrefix: DeliveryPrefix, recipient: Int64) throws -> DeliveryRecord? {
        let condition = """
            WHERE delivery.notification = (SELECT number FROM notification WHERE prefix = ?) AND delivery.recipient = ?
            """
        return try self.deliveries(condition, [notificationPrefix.bits, recipient]).first
    }
}

extension SQLStore {
    package func deliveries(
        of notification: UUID,
        state: DeliveryRecord.State?,
        reason: String?,
        after: Int64?,
        limit: Int
    ) async throws -> [DeliveryRecord] {
        try await self.database.query { database in
            try DeliveryRows(database: database).deliveries(
                of: notification,
                state: state,
                reason: reason,
                after: after,
                limit: limit
            )
        }
    }

    package func delivery(of notificationPrefix: DeliveryPrefix, recipient: Int64) async throws -> DeliveryRecord? {
        try await self.database.query {
            try DeliveryRows(database: $0).delivery(of: notificationPrefix, recipient: recipient)
        }
    }

    package func horizon(app: Int64, before: NotificationCursor?, campaigns: Int) async throws -> NotificationCursor? {
        let sql = """
            SELECT number FROM notification INDEXED BY notificationInBulk
            WHERE app = ? AND lane = 1 AND number < ? ORDER BY number DESC LIMIT 1 OFFSET ?
            """
        let arguments: SQLArguments = [app, before?.number ?? .max, max(0, campaigns - 1)]
        return try await self.database.query { try $0.integer(sql: sql, arguments).map(NotificationCursor.init) }
    }

    package func deliveries(
        app: Int64,
        period: UserPeriod,
        before: NotificationCursor?,
        horizon: NotificationCursor?,
        limit: Int
    ) async throws -> [DeliveryRecord] {
        // Deliveries of campaigns have no index by device, so each campaign is searched for the device.
        let keys = """
            SELECT notification, recipient FROM delivery
            WHERE device = :device AND notification < :before AND notification >= :horizon
            UNION SELECT number, :device FROM notification
            WHERE app = :app AND lane = 1 AND number < :before AND number >= :horizon
            """
        return try await self.newestDeliveries(
            keys,
            [
                "device": period.device, "app": app, "before": before?.number ?? .max,
                "horizon": horizon?.number ?? .min, "since": period.since?.milliseconds ?? .min,
                "until": period.until?.milliseconds ?? .max, "limit": limit,
            ]
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
            WHERE token = :token AND notification < :before AND notification >= :horizon
            """
        return try await self.newestDeliveries(
            keys,
            [
                "token": token.sqlValue, "app": app, "before": before?.number ?? .max,
                "horizon": horizon?.number ?? .min, "since": since?.milliseconds ?? .min, "until": Int64.max,
                "limit": limit,
            ]
        )
    }

    private func newestDeliveries(_ keys: String, _ arguments: SQLArguments) async throws -> [DeliveryRecord] {
        let condition = """
            WHERE notification.app = :app
                AND (:since = \(Int64.min) AND :until = \(Int64.max)
                    OR \(DeviceUsers.sentAt) > :since AND \(DeviceUsers.sentAt) <= :until)
            ORDER BY delivery.notification DESC, delivery.at DESC LIMIT :limit
            """
        return try await self.database.query {
            try DeliveryRows(database: $0).deliveries(keys: keys, condition, arguments)
        }
    }
}

extension DeliveryRecord: StoredRecord {
    static let table = "delivery"

    init(_ row: StoredRow) throws {
        self.init(
            notification: try row.get("notificationID"),
            position: NotificationCursor(number: try row.get("position")),
            recipient: try row.get("recipient"),
            device: row["device"],
            token: row["token"],
            environment: row["environment"],
            state: try row.get(raw: "state"),
            reason: row["reason"],
            attempts: try row.get("attempts"),
            at: try row.get("at")
        )
    }
}
