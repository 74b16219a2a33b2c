package import Foundation
import GRDB
package import PushProtocol

extension SQLiteStore {
    package func accept(_ notification: NotificationRecord, idempotency: Idempotency?) async throws -> Acceptance {
        try await self.database.write { database in
            if let idempotency,
                let row = try Row.fetchOne(
                    database,
                    sql: "SELECT * FROM notification WHERE app = ? AND idempotencyKey = ?",
                    arguments: [notification.app, idempotency.key]
                )
            {
                guard row["fingerprint"] as Data? == Data(idempotency.fingerprint) else { return .conflict }
                return .repeated(try Self.notification(row, in: database))
            }
            try Self.insert(notification, idempotency: idempotency, in: database)
            return .accepted
        }
    }

    package func notification(_ id: UUID) async throws -> NotificationRecord? {
        try await self.database.read { try Self.notification(id, in: $0) }
    }

    package func claim(now: Timestamp, until: Timestamp) async throws -> NotificationRecord? {
        try await self.database.write { database in
            guard
                let row = try Row.fetchOne(
                    database,
                    sql: """
                        SELECT * FROM notification WHERE isWalked = 0 AND (leaseUntil IS NULL OR leaseUntil <= ?)
                        ORDER BY coalesce(lastPageAt, 0), createdAt LIMIT 1
                        """,
                    arguments: [now.milliseconds]
                )
            else { return nil }
            let notification = try Self.notification(row, in: database)
            try database.execute(
                sql: "UPDATE notification SET leaseUntil = ? WHERE id = ?",
                arguments: [until.milliseconds, notification.id.uuidString]
            )
            return notification
        }
    }

    package func releaseLeases() async throws {
        try await self.database.write { try $0.execute(sql: "UPDATE notification SET leaseUntil = NULL") }
    }

    static func notification(_ id: UUID, in database: Database) throws -> NotificationRecord? {
        try Row.fetchOne(database, sql: "SELECT * FROM notification WHERE id = ?", arguments: [id.uuidString])
            .map { try Self.notification($0, in: database) }
    }

    private static func insert(
        _ notification: NotificationRecord,
        idempotency: Idempotency?,
        in database: Database
    ) throws {
        let (kind, value) = Self.columns(of: notification.audience)
        let content = notification.content
        try database.execute(
            sql: """
                INSERT INTO notification (id, app, audience, audienceValue, environment, topic, pushType, priority,
                    expiration, collapseID, payload, createdAt, state, idempotencyKey, fingerprint)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                notification.id.uuidString, notification.app, kind, value, notification.environment?.rawValue,
                content.topic.name, content.pushType.rawValue, content.priority.rawValue, content.expiration.header,
                content.collapseID, content.payload, notification.createdAt.milliseconds,
                notification.state.rawValue, idempotency?.key, (idempotency?.fingerprint).map { Data($0) },
            ]
        )
        guard case .tokens(let tokens) = notification.audience else { return }
        for (position, token) in tokens.enumerated() {
            try database.execute(
                sql: "INSERT INTO target (notification, position, token, environment) VALUES (?, ?, ?, ?)",
                arguments: [
                    notification.id.uuidString, position + 1, Data(token.bytes),
                    (notification.environment ?? .production).rawValue,
                ]
            )
        }
    }

    private static func columns(of audience: Audience) -> (kind: String, value: String?) {
        switch audience {
        case .tokens: ("tokens", nil)
        case .user(let user): ("user", user)
        case .tag(let tag): ("tag", tag)
        case .all: ("all", nil)
        }
    }

    private static func audience(_ row: Row, in database: Database) throws -> Audience {
        switch (row["audience"] as String?, row["audienceValue"] as String?) {
        case ("all", _): return .all
        case ("user", let user?): return .user(user)
        case ("tag", let tag?): return .tag(tag)
        case ("tokens", _):
            return .tokens(
                try Row.fetchAll(
                    database,
                    sql: "SELECT token FROM target WHERE notification = ? ORDER BY position",
                    arguments: [row["id"] as String?]
                ).compactMap { $0.token("token") }
            )
        default: throw DamagedRow(table: "notification")
        }
    }

    static func notification(_ row: Row, in database: Database) throws -> NotificationRecord {
        guard let id = row.uuid("id"), let app = row["app"] as Int64?, let createdAt = row.time("createdAt"),
            let state = (row["state"] as String?).flatMap(NotificationRecord.State.init(rawValue:)),
            let cursor = row["cursor"] as Int64?, let accepted = row["accepted"] as Int?,
            let rejected = row["rejected"] as Int?, let failed = row["failed"] as Int?
        else { throw DamagedRow(table: "notification") }
        var record = NotificationRecord(
            id: id,
            app: app,
            content: try Self.content(row),
            audience: try Self.audience(row, in: database),
            environment: row.environment("environment"),
            createdAt: createdAt,
            state: state
        )
        record.finishedAt = row.time("finishedAt")
        record.cursor = cursor
        record.counters.accepted = accepted
        record.counters.rejected = rejected
        record.counters.failed = failed
        record.counters.retrying =
            try Int.fetchOne(
                database,
                sql: "SELECT count(*) FROM retry WHERE notification = ?",
                arguments: [id.uuidString]
            ) ?? 0
        return record
    }

    private static func content(_ row: Row) throws -> NotificationContent {
        guard let topic = row.topic("topic"),
            let pushType = (row["pushType"] as String?).flatMap(PushType.init(rawValue:)),
            let priority = (row["priority"] as Int?).flatMap(UInt8.init(exactly:)).flatMap(Priority.init(rawValue:)),
            let expiration = (row["expiration"] as String?).map({ Expiration(header: $0) }) ?? .servicePolicy,
            let payload = row["payload"] as Data?
        else { throw DamagedRow(table: "notification") }
        return NotificationContent(
            topic: topic,
            pushType: pushType,
            priority: priority,
            expiration: expiration,
            collapseID: row["collapseID"],
            payload: payload
        )
    }
}
