import Foundation
import GRDB
import PushSupport
import PushTypes

/// Reads and writes the row of a notification.
enum NotificationRow {
    private static let delivery = JSONColumn<DeliveryTime>("notification", "delivery")
    private static let pace = JSONColumn<PaceSettings>("notification", "pace")

    /// Reads a notification; `nil` if there is none.
    /// - Throws: ``DamagedRow``.
    static func fetch(_ id: UUID, in database: Database) throws -> NotificationRecord? {
        try Row.fetchOne(database, sql: "SELECT * FROM notification WHERE id = ?", arguments: [id.uuidString])
            .map { try Self.record($0, in: database) }
    }

    /// Reads a notification with its tokens, its counters in shards and the number of recipients that wait for another
    /// try.
    static func record(_ row: Row, in database: Database) throws -> NotificationRecord {
        var record = try Self.record(row)
        let number = row["number"] as Int64?
        if case .tokens = record.audience {
            record.audience = .tokens(
                try Row.fetchAll(
                    database,
                    sql: "SELECT token FROM target WHERE notification = ? ORDER BY position",
                    arguments: [number]
                ).compactMap { $0.token("token") }
            )
        }
        record.progress.retrying =
            try Int.fetchOne(database, sql: "SELECT count(*) FROM retry WHERE notification = ?", arguments: [number])
            ?? 0
        if record.progress.finishedAt == nil || record.state == .cancelled {
            try Self.addShards(to: &record.progress, number: number, in: database)
        }
        return record
    }

    /// Adds the counters of the shards, which become the notification's own once the shards are removed.
    private static func addShards(
        to progress: inout NotificationProgress,
        number: Int64?,
        in database: Database
    ) throws {
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT sum(accepted) AS accepted, sum(rejected) AS rejected, sum(failed) AS failed,
                    sum(skipped) AS skipped, max(lastPageAt) AS lastPageAt
                FROM shard WHERE notification = ?
                """,
            arguments: [number]
        )
        guard let row else { return }
        progress.accepted += row["accepted"] as Int? ?? 0
        progress.rejected += row["rejected"] as Int? ?? 0
        progress.failed += row["failed"] as Int? ?? 0
        progress.skipped += row["skipped"] as Int? ?? 0
        progress.lastPageAt = [progress.lastPageAt, row.time("lastPageAt")].compactMap { $0 }.max()
    }

    /// Reads a notification's row alone, without the tokens that it names.
    static func record(_ row: Row) throws -> NotificationRecord {
        guard let id = row.uuid("id"), let app = row["app"] as Int64?, let createdAt = row.time("createdAt"),
            let state = (row["state"] as String?).flatMap(NotificationRecord.State.init(rawValue:)),
            let guarantee = (row["guarantee"] as String?).flatMap(NotificationRecord.Guarantee.init(rawValue:)),
            let lane = (row["lane"] as Int64?).flatMap(NotificationRecord.Lane.init(rawValue:))
        else { throw DamagedRow(table: "notification") }
        var record = NotificationRecord(
            id: id,
            app: app,
            content: try Self.content(row),
            audience: try Self.audience(row),
            environment: row.environment("environment"),
            guarantee: guarantee,
            lane: lane,
            delivery: try Self.delivery.value(row),
            pace: try Self.pace.value(row),
            createdAt: createdAt,
            startsAt: row.time("startsAt"),
            state: state
        )
        record.progress = Self.progress(row)
        if let schedule = row.uuid("schedule"), let at = row.time("runAt") {
            record.run = ScheduleRun(schedule: schedule, at: at)
        }
        return record
    }

    /// Adds a notification with its tokens.
    /// - Returns: the store's own number of it.
    static func insert(
        _ notification: NotificationRecord,
        idempotency: Idempotency?,
        in database: Database
    ) throws -> Int64 {
        let content = notification.content
        let expected = notification.progress.recipients
        try database.execute(
            sql: """
                INSERT INTO notification (id, prefix, app, state, lane, guarantee, audience, environment, topic,
                    pushType, priority, expiration, collapseID, payload, isTemplate, delivery, pace, schedule, runAt,
                    createdAt, startsAt, recipients, idempotencyKey, fingerprint)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                notification.id.uuidString, DeliveryPrefix(of: notification.id).bits, notification.app,
                notification.state.rawValue, notification.lane.rawValue, notification.guarantee.rawValue,
                try Self.text(of: notification.audience), notification.environment?.code, content.topic.name,
                content.pushType.rawValue, content.priority.rawValue, content.expiration.header, content.collapseID,
                content.payload, content.isTemplate, try notification.delivery?.json.text,
                try notification.pace?.json.text,
                notification.run?.schedule.uuidString, notification.run?.at.milliseconds,
                notification.createdAt.milliseconds, notification.startsAt.milliseconds, expected,
                idempotency?.key, (idempotency?.fingerprint).map { Data($0) },
            ]
        )
        let number = database.lastInsertedRowID
        if case .tokens(let tokens) = notification.audience {
            for (position, token) in tokens.enumerated() {
                try database.execute(
                    sql: "INSERT INTO target (notification, position, token, environment) VALUES (?, ?, ?, ?)",
                    arguments: [
                        number, position + 1, Data(token.bytes), (notification.environment ?? .production).code,
                    ]
                )
            }
        }
        return number
    }

    private static func text(of audience: Audience) throws -> String {
        let json: JSONValue =
            switch audience {
            case .tokens: .object(["tokens": .bool(true)])
            case .devices(let expression): expression.json
            }
        return String(decoding: try json.text, as: UTF8.self)
    }

    private static func audience(_ row: Row) throws -> Audience {
        guard let text = row["audience"] as String?, let json = try? JSONValue(parsing: Data(text.utf8)) else {
            throw DamagedRow(table: "notification")
        }
        if json == .object(["tokens": .bool(true)]) { return .tokens([]) }
        guard let expression = AudienceExpression(stored: json) else { throw DamagedRow(table: "notification") }
        return .devices(expression)
    }

    private static func progress(_ row: Row) -> NotificationProgress {
        var progress = NotificationProgress()
        progress.recipients = row["recipients"] as Int? ?? 0
        progress.accepted = row["accepted"] as Int? ?? 0
        progress.rejected = row["rejected"] as Int? ?? 0
        progress.failed = row["failed"] as Int? ?? 0
        progress.skipped = row["skipped"] as Int? ?? 0
        progress.startedAt = row.time("startedAt")
        progress.lastPageAt = row.time("lastPageAt")
        progress.finishedAt = row.time("finishedAt")
        progress.pauseReason = row["pauseReason"]
        progress.wave = WaveProgress(startedAt: row.time("waveStartedAt"), sent: row["sentInWave"] as Int? ?? 0)
        return progress
    }

    private static func content(_ row: Row) throws -> NotificationContent {
        guard let topic = row.topic("topic"),
            let pushType = (row["pushType"] as String?).flatMap(PushType.init(rawValue:)),
            let priority = (row["priority"] as Int?).flatMap(UInt8.init(exactly:)).flatMap(Priority.init(rawValue:)),
            let expiration = (row["expiration"] as String?).map({ Expiration(header: $0) }) ?? .servicePolicy,
            let payload = row["payload"] as Data?, let isTemplate = row["isTemplate"] as Bool?
        else { throw DamagedRow(table: "notification") }
        return NotificationContent(
            topic: topic,
            pushType: pushType,
            priority: priority,
            expiration: expiration,
            collapseID: row["collapseID"],
            payload: payload,
            isTemplate: isTemplate
        )
    }
}
