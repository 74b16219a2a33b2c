package import Foundation
import GRDB
package import PushTypes

extension SQLiteStore {
    package func addWebhook(_ webhook: WebhookRecord, limit: Int) async throws -> Bool {
        let sealed = try self.masterKey.seal(webhook.secret, for: .webhook(webhook.id, app: webhook.app))
        return try await self.database.write { database in
            let others = try database.count(sql: "SELECT count(*) FROM webhook WHERE app = ?", [webhook.app])
            guard others < limit else { return false }
            // Earlier events are not for it.
            try EventPositions.giveAll(app: webhook.app, in: database)
            let cursor = try EventPositions.last(app: webhook.app, in: database)
            try database.insert(
                into: "webhook",
                [
                    "id": webhook.id.uuidString, "app": webhook.app, "url": webhook.url, "sealed": sealed,
                    "events": webhook.eventText, "isActive": webhook.isActive, "failures": webhook.failures,
                    "createdAt": webhook.createdAt.milliseconds, "cursor": max(webhook.cursor, cursor),
                ]
            )
            return true
        }
    }

    package func readWebhooks(app: Int64?) async throws -> WebhookList {
        try await self.database.read { database in
            let sql = "SELECT * FROM webhook WHERE app = coalesce(?, app) ORDER BY createdAt, id"
            var list = WebhookList(webhooks: [])
            for row in try database.rows(sql: sql, [app]) {
                if let webhook = try row.readable({ try Self.webhook($0, self.masterKey) }) {
                    list.webhooks.append(webhook)
                } else {
                    list.unreadable.append(row["id"] as String? ?? "")
                }
            }
            return list
        }
    }

    package func webhook(_ id: UUID) async throws -> WebhookRecord? {
        try await self.database.read { database in
            try Self.webhookRow(id, in: database).map { try Self.webhook($0, self.masterKey) }
        }
    }

    package func changeWebhook(_ id: UUID, _ change: WebhookChange) async throws -> WebhookRecord? {
        let masterKey = self.masterKey
        return try await self.database.write { database in
            guard let row = try Self.webhookRow(id, in: database) else { return nil }
            var webhook = try Self.webhook(row, masterKey)
            change.apply(to: &webhook)
            try database.update("webhook", ["url": webhook.url, "events": webhook.eventText], id: id.uuidString)
            try Self.update(webhook, in: database)
            if change.signing != nil {
                let sealed = try masterKey.seal(webhook.secret, for: .webhook(id, app: webhook.app))
                try database.update("webhook", ["sealed": sealed], id: id.uuidString)
            }
            return webhook
        }
    }

    package func settleWebhook(_ id: UUID, _ outcome: WebhookOutcome) async throws -> Bool {
        try await self.database.write { database in
            guard let row = try Self.webhookRow(id, in: database),
                let webhook = outcome.applied(to: try Self.webhook(row, nil))
            else { return false }
            try Self.update(webhook, in: database)
            if let post = outcome.post { try Self.note(post, of: webhook, in: database) }
            return true
        }
    }

    /// Remembers a post. The first one of a block stays: a later one is a replay.
    private static func note(_ post: AcknowledgedPost, of webhook: WebhookRecord, in database: Database) throws {
        let sql = """
            INSERT INTO webhookPost (webhook, last, first, app, postedAt, acknowledgedAt) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """
        let (postedAt, acknowledgedAt) = (post.postedAt.milliseconds, post.acknowledgedAt.milliseconds)
        let values: StatementArguments = [
            webhook.id.uuidString, post.last, post.first, webhook.app, postedAt, acknowledgedAt,
        ]
        try database.run(sql: sql, values)
    }

    /// Writes what both a person and the delivery change.
    private static func update(_ webhook: WebhookRecord, in database: Database) throws {
        try database.update(
            "webhook",
            [
                "cursor": webhook.cursor, "failures": webhook.failures, "nextTryAt": webhook.nextTryAt?.milliseconds,
                "lastError": webhook.lastError, "lastSuccessAt": webhook.lastSuccessAt?.milliseconds,
                "isActive": webhook.isActive, "version": webhook.version,
            ],
            id: webhook.id.uuidString
        )
    }

    private static func webhookRow(_ id: UUID, in database: Database) throws -> Row? {
        try database.row(sql: "SELECT * FROM webhook WHERE id = ?", [id.uuidString])
    }

    package func deleteWebhook(_ id: UUID) async throws -> Bool {
        try await self.database.write { database in
            try database.run(sql: "DELETE FROM webhookPost WHERE webhook = ?", [id.uuidString])
            return try database.run(sql: "DELETE FROM webhook WHERE id = ?", [id.uuidString]) > 0
        }
    }

    package func wants(_ kind: WebhookRecord.Event, app: Int64) async throws -> Bool {
        try await self.database.apps.value(.wants(kind, app: app)) {
            try await self.database.read { try Self.wants(kind, app: app, in: $0) }
        }
    }

    /// Returns `true` if an active webhook of the app wants events of this kind, within a transaction.
    static func wants(_ kind: WebhookRecord.Event, app: Int64, in database: Database) throws -> Bool {
        let sql = "SELECT 1 FROM webhook WHERE app = ? AND isActive = 1 AND instr(events, ?) LIMIT 1"
        return try database.hasRow(sql: sql, [app, kind.rawValue])
    }

    package func eventBlocks(
        app: Int64,
        kinds: Set<WebhookRecord.Event>,
        after: Int64,
        limit: Int
    ) async throws -> [EventBlock] {
        guard !kinds.isEmpty else { return [] }
        let names = kinds.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
        if try await self.database.read({ try EventPositions.areMissing(app: app, in: $0) }) {
            try await self.database.write { try EventPositions.give(app: app, in: $0) }
        }
        let sql = """
            SELECT * FROM eventBlock INDEXED BY eventBlockByPosition
            WHERE app = ? AND position > ? AND position IS NOT NULL AND kind IN (\(names)) ORDER BY position LIMIT ?
            """
        return try await self.database.read { database in
            try database.rows(sql: sql, [app, after, limit]).map { row in
                guard let id = row["position"] as Int64?, let at = row.time("at"), let events = row["events"] as Data?,
                    let kind = row.value("kind") as WebhookRecord.Event?
                else { throw DamagedRow(table: "eventBlock") }
                var block = EventBlock(id: id, kind: kind, at: at, events: events)
                if let first = row["firstToken"] as Int64?, let last = row["lastToken"] as Int64? {
                    block.tokens = try TokenEventWriter.fetch(first...max(first, last), app: app, in: database)
                }
                return block
            }
        }
    }

    package func lastEventBlock(app: Int64, before: Timestamp) async throws -> Int64 {
        try await self.database.write { database in
            try EventPositions.giveAll(app: app, in: database)
            let sql = "SELECT max(position) FROM eventBlock WHERE app = ? AND at < ?"
            return try database.integer(sql: sql, [app, before.milliseconds]) ?? 0
        }
    }

    package func forgetEvents(before: Timestamp) async throws -> Int {
        try await self.database.write { database in
            try database.run(sql: "DELETE FROM webhookPost WHERE acknowledgedAt < ?", [before.milliseconds])
            return try database.run(sql: "DELETE FROM eventBlock WHERE at < ?", [before.milliseconds])
        }
    }

    /// Reads a webhook's row.
    /// - Parameter masterKey: The key that opens the secret; `nil` leaves the secret out.
    static func webhook(_ row: Row, _ masterKey: MasterKey?) throws -> WebhookRecord {
        guard let id = row.uuid("id"), let app = row["app"] as Int64?, let url = row["url"] as String?,
            let sealed = row["sealed"] as Data?, let events = row["events"] as String?,
            let isActive = row["isActive"] as Bool?, let createdAt = row.time("createdAt"),
            let cursor = row["cursor"] as Int64?, let failures = row["failures"] as Int?,
            let version = row["version"] as Int64?
        else { throw DamagedRow(table: "webhook") }
        // A secret that was sealed with another key, or for another webhook, cannot be used.
        guard let secret = masterKey.map({ try? $0.open(sealed, for: .webhook(id, app: app)) }) ?? ""
        else { throw DamagedRow(table: "webhook") }
        let kinds = events.split(separator: " ").compactMap { WebhookRecord.Event(rawValue: String($0)) }
        var webhook = WebhookRecord(
            id: id,
            app: app,
            url: url,
            secret: secret,
            events: Set(kinds),
            isActive: isActive,
            createdAt: createdAt,
            cursor: cursor
        )
        webhook.failures = failures
        webhook.nextTryAt = row.time("nextTryAt")
        webhook.lastError = row["lastError"]
        webhook.lastSuccessAt = row.time("lastSuccessAt")
        webhook.version = version
        return webhook
    }
}

extension WebhookRecord {
    fileprivate var eventText: String { self.events.map(\.rawValue).sorted().joined(separator: " ") }
}
