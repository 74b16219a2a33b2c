package import Foundation
import GRDB
package import PushProtocol

extension SQLiteStore {
    package func addWebhook(_ webhook: WebhookRecord) async throws {
        let sealed = try self.masterKey.seal(webhook.secret)
        try await self.database.write { database in
            // What happened before is nothing to it.
            let cursor = try Int64.fetchOne(database, sql: "SELECT max(id) FROM eventBlock") ?? 0
            try database.execute(
                sql: """
                    INSERT INTO webhook (id, app, url, sealed, events, isActive, createdAt, cursor, failures)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    webhook.id.uuidString, webhook.app, webhook.url, sealed, webhook.eventText, webhook.isActive,
                    webhook.createdAt.milliseconds, max(webhook.cursor, cursor), webhook.failures,
                ]
            )
        }
    }

    package func webhooks(app: Int64?) async throws -> [WebhookRecord] {
        try await self.webhooks("SELECT * FROM webhook WHERE app = coalesce(?, app) ORDER BY createdAt, id", [app])
    }

    package func webhook(_ id: UUID) async throws -> WebhookRecord? {
        try await self.webhooks("SELECT * FROM webhook WHERE id = ?", [id.uuidString]).first
    }

    package func updateWebhook(_ webhook: WebhookRecord, expectedCursor: Int64) async throws -> Bool {
        let sealed = try self.masterKey.seal(webhook.secret)
        return try await self.database.write { database in
            try database.execute(
                sql: """
                    UPDATE webhook SET url = ?, sealed = ?, events = ?, isActive = ?, failures = ?, nextTryAt = ?,
                        lastError = ?, lastSuccessAt = ?, cursor = CASE cursor WHEN ? THEN ? ELSE cursor END
                    WHERE id = ?
                    """,
                arguments: [
                    webhook.url, sealed, webhook.eventText, webhook.isActive, webhook.failures,
                    webhook.nextTryAt?.milliseconds, webhook.lastError, webhook.lastSuccessAt?.milliseconds,
                    expectedCursor, webhook.cursor, webhook.id.uuidString,
                ]
            )
            return database.changesCount > 0
        }
    }

    package func deleteWebhook(_ id: UUID) async throws -> Bool {
        try await self.database.write { database in
            try database.execute(sql: "DELETE FROM webhook WHERE id = ?", arguments: [id.uuidString])
            return database.changesCount > 0
        }
    }

    package func wants(_ kind: WebhookRecord.Event, app: Int64) async throws -> Bool {
        try await self.database.read { try Self.wants(kind, app: app, in: $0) }
    }

    static func wants(_ kind: WebhookRecord.Event, app: Int64, in database: Database) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: "SELECT 1 FROM webhook WHERE app = ? AND isActive = 1 AND instr(events, ?) LIMIT 1"
        )
        return try Row.fetchOne(statement, arguments: [app, kind.rawValue]) != nil
    }

    package func eventBlocks(
        app: Int64,
        kinds: Set<WebhookRecord.Event>,
        after: Int64,
        limit: Int
    ) async throws -> [EventBlock] {
        let words = kinds.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
        return try await self.database.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM eventBlock WHERE app = ? AND id > ? AND kind IN (\(words)) ORDER BY id LIMIT ?
                    """,
                arguments: [app, after, limit]
            ).map { row in
                guard let id = row["id"] as Int64?, let at = row.time("at"), let events = row["events"] as Data?,
                    let kind = (row["kind"] as String?).flatMap(WebhookRecord.Event.init(rawValue:))
                else { throw DamagedRow(table: "eventBlock") }
                var block = EventBlock(id: id, kind: kind, at: at, events: events)
                if let first = row["firstToken"] as Int64?, let last = row["lastToken"] as Int64? {
                    block.tokens = try TokenEvents.fetch(first...max(first, last), app: app, in: database)
                }
                return block
            }
        }
    }

    package func lastEventBlock(app: Int64, before: Timestamp) async throws -> Int64 {
        try await self.database.read { database in
            try Int64.fetchOne(
                database,
                sql: "SELECT max(id) FROM eventBlock WHERE app = ? AND at < ?",
                arguments: [app, before.milliseconds]
            ) ?? 0
        }
    }

    package func forgetEvents(before: Timestamp) async throws -> Int {
        try await self.database.write { database in
            // They came in the order of their time: no further is looked than is forgotten.
            try database.execute(
                sql: """
                    DELETE FROM eventBlock WHERE id < coalesce(
                        (SELECT id FROM eventBlock WHERE at >= ? ORDER BY id LIMIT 1), 9223372036854775807)
                    """,
                arguments: [before.milliseconds]
            )
            return database.changesCount
        }
    }

    private func webhooks(
        _ sql: String,
        _ arguments: [(any DatabaseValueConvertible & Sendable)?]
    ) async throws -> [WebhookRecord] {
        let rows = try await self.database.read { database in
            try Row.fetchAll(database, sql: sql, arguments: StatementArguments(arguments)).map(Self.webhook)
        }
        return try rows.map { webhook, sealed in
            var webhook = webhook
            webhook.secret = try self.masterKey.open(sealed)
            return webhook
        }
    }

    private static func webhook(_ row: Row) throws -> (WebhookRecord, sealed: Data) {
        guard let id = row.uuid("id"), let app = row["app"] as Int64?, let url = row["url"] as String?,
            let sealed = row["sealed"] as Data?, let events = row["events"] as String?,
            let isActive = row["isActive"] as Bool?, let createdAt = row.time("createdAt"),
            let cursor = row["cursor"] as Int64?, let failures = row["failures"] as Int?
        else { throw DamagedRow(table: "webhook") }
        let kinds = events.split(separator: " ").compactMap { WebhookRecord.Event(rawValue: String($0)) }
        var webhook = WebhookRecord(
            id: id,
            app: app,
            url: url,
            secret: "",
            events: Set(kinds),
            isActive: isActive,
            createdAt: createdAt,
            cursor: cursor
        )
        webhook.failures = failures
        webhook.nextTryAt = row.time("nextTryAt")
        webhook.lastError = row["lastError"]
        webhook.lastSuccessAt = row.time("lastSuccessAt")
        return (webhook, sealed)
    }
}

extension WebhookRecord {
    fileprivate var eventText: String { self.events.map(\.rawValue).sorted().joined(separator: " ") }
}
