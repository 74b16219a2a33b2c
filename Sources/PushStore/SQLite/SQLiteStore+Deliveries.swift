package import Foundation
import GRDB
package import PushProtocol

extension SQLiteStore {
    package func recipients(of notification: NotificationRecord, limit: Int) async throws -> RecipientPage {
        let recipients: [Recipient]
        if case .tokens = notification.audience {
            recipients = try await self.namedRecipients(of: notification, limit: limit)
        } else {
            recipients = try await self.deviceRecipients(of: notification, limit: limit)
        }
        return RecipientPage(
            recipients: recipients,
            cursor: recipients.last.map { abs($0.id) } ?? notification.cursor,
            isLast: recipients.count < limit
        )
    }

    private func deviceRecipients(of notification: NotificationRecord, limit: Int) async throws -> [Recipient] {
        // The raw value is one of two words of ours, so it needs no argument.
        let environment = notification.environment.map { " AND device.environment = '\($0.rawValue)'" } ?? ""
        let devices = try await self.database.read { database in
            try Self.devices(
                app: notification.app,
                audience: notification.audience,
                where: "device.isActive = 1\(environment)",
                after: notification.cursor,
                limit: limit,
                in: database
            )
        }
        return devices.map { device in
            Recipient(
                id: device.id,
                device: device.id,
                token: device.token,
                environment: device.environment,
                registeredAt: device.registeredAt
            )
        }
    }

    private func namedRecipients(of notification: NotificationRecord, limit: Int) async throws -> [Recipient] {
        try await self.database.read { database in
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT * FROM target WHERE notification = ? AND position > ? ORDER BY position LIMIT ?",
                arguments: [notification.id.uuidString, notification.cursor, limit]
            )
            return try rows.map { row in
                guard let position = row["position"] as Int64?, let token = row.token("token"),
                    let environment = row.environment("environment")
                else { throw DamagedRow(table: "target") }
                let device = try Self.devices(app: notification.app, token: token, in: database)
                    .first { $0.environment == environment }
                return Recipient(
                    id: -position,
                    device: device?.id,
                    token: token,
                    environment: environment,
                    registeredAt: device?.registeredAt
                )
            }
        }
    }

    package func dueRetries(now: Timestamp, limit: Int) async throws -> (NotificationRecord, [Recipient])? {
        try await self.database.read { database in
            guard
                let id = try String.fetchOne(
                    database,
                    sql: "SELECT notification FROM retry WHERE dueAt <= ? ORDER BY dueAt LIMIT 1",
                    arguments: [now.milliseconds]
                ).flatMap(UUID.init(uuidString:)), let notification = try Self.notification(id, in: database)
            else { return nil }
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT * FROM retry WHERE notification = ? AND dueAt <= ? ORDER BY dueAt LIMIT ?",
                arguments: [id.uuidString, now.milliseconds, limit]
            )
            return (notification, try rows.map { try Self.recipient($0, registeredAt: $0.time("registeredAt")) })
        }
    }

    package func nextRetry() async throws -> Timestamp? {
        try await self.database.read { database in
            try Int64.fetchOne(database, sql: "SELECT min(dueAt) FROM retry").map(Timestamp.init(milliseconds:))
        }
    }

    package func deliveries(of notification: UUID, after: Int64?, limit: Int) async throws -> [DeliveryRecord] {
        try await self.database.read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT * FROM delivery WHERE notification = ? AND recipient > ? ORDER BY recipient LIMIT ?",
                arguments: [notification.uuidString, after ?? .min, limit]
            ).map { row in
                guard let state = (row["state"] as String?).flatMap(DeliveryRecord.State.init(rawValue:)),
                    let apnsID = row["apnsID"] as String?, let attempts = row["attempts"] as Int?,
                    let at = row.time("at")
                else { throw DamagedRow(table: "delivery") }
                return DeliveryRecord(
                    recipient: try Self.recipient(row, registeredAt: nil),
                    state: state,
                    apnsID: apnsID,
                    reason: row["reason"],
                    attempts: attempts,
                    at: at
                )
            }
        }
    }

    private static func recipient(_ row: Row, registeredAt: Timestamp?) throws -> Recipient {
        guard let id = row["recipient"] as Int64?, let token = row.token("token"),
            let environment = row.environment("environment"), let attempts = row["attempts"] as Int?
        else { throw DamagedRow(table: "delivery or retry") }
        return Recipient(
            id: id,
            device: row["device"],
            token: token,
            environment: environment,
            registeredAt: registeredAt,
            attempts: attempts
        )
    }
}
