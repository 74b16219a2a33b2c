package import Foundation
import GRDB
package import PushTypes

extension SQLiteStore {
    package func addWebhook(_ webhook: WebhookRecord, limit: Int) async throws -> Bool {
        let sealed = try self.masterKey.seal(webhook.secret, for: .webhook(webhook.id, app: webhook.app))
        return try await self.database.write { database in
            let sql = "SELECT count(*) FROM webhook WHERE app = ?"
            guard try Int.fetchOne(database, sql: sql, arguments: [webhook.app]) ?? 0 < limit else { return false }
            // Earlier events are not for it.
            try EventPositions.giveAll(app: webhook.app, in: database)
            let cursor = try EventPositions.last(app: webhook.app, in: database)
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
            return true
        }
    }

    package func readWebhooks(app: Int64?) async throws -> WebhookList {
        try await self.database.read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: "SELECT * FROM webhook WHERE app = coalesce(?, app) ORDER BY createdAt, id",
                arguments: [app]
            )
            var list = WebhookList(webhooks: [])
            while let row = try rows.next() {
                do {
                    list.webhooks.append(try Self.webhook(row, self.masterKey))
                } catch is DamagedRow {
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
            try database.execute(
                sql: """
                    UPDATE webhook SET url = ?, events = ?, isActive = ?, cursor = ?, failures = ?, nextTryAt = ?,
                        lastError = ?, version = ?
                    WHERE id = ?
                    """,
                arguments: [
                    webhook.url, webhook.eventText, webhook.isActive, webhook.cursor, webhook.failures,
                    webhook.nextTryAt?.milliseconds, webhook.lastError, webhook.version, id.uuidString,
                ]
            )
            if change.signing != nil {
                let sealed = try masterKey.seal(webhook.secret, for: .webhook(id, app: webhook.app))
                try database.execute(
                    sql: "UPDATE webhook SET sealed = ? WHERE id = ?",
                    arguments: [sealed, id.uuidString]
                )
            }
            return webhook
        }
    }

    package func settleWebhook(_ id: UUID, _ outcome: WebhookOutcome) async throws -> Bool {
        try await self.database.write { database in
            guard let row = try Self.webhookRow(id, in: database),
                let webhook = outcome.applied(to: try Self.webhook(row, nil))
            else { return false }
            try database.execute(
                sql: """
                    UPDATE webhook SET cursor = ?, failures = ?, nextTryAt = ?, lastError = ?, lastSuccessAt = ?,
                        isActive = ?, version = ?
                    WHERE id = ?
                    """,
                arguments: [
                    webhook.cursor, webhook.failures, webhook.nextTryAt?.milliseconds, webhook.lastError,
                    webhook.lastSuccessAt?.milliseconds, webhook.isActive, webhook.version, id.uuidString,
                ]
            )
            return true
        }
    }

    private static func webhookRow(_ id: UUID, in database: Database) throws -> Row? {
        try Row.fetchOne(database, sql: "SELECT * FROM webhook WHERE id = ?", arguments: [id.uuidString])
    }

    package func deleteWebhook(_ id: UUID) async throws -> Bool {
        try await self.database.execute("DELETE FROM webhook WHERE id = ?", [id.uuidString]) > 0
    }

    package func wants(_ kind: WebhookRecord.Event, app: Int64) async throws -> Bool {
        try await self.database.read { try Self.wants(kind, app: app, in: $0) }
    }

    /// Tells whether an active webhook of the app wants events of this kind, within a transaction.
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
        guard !kinds.isEmpty else { return [] }
        let names = kinds.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
        if try await self.database.read({ try EventPositions.areMissing(app: app, in: $0) }) {
            try await self.database.write { try EventPositions.give(app: app, in: $0) }
        }
        return try await self.database.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM eventBlock INDEXED BY eventBlockByPosition
                    WHERE app = ? AND position > ? AND position IS NOT NULL AND kind IN (\(names))
                    ORDER BY position LIMIT ?
                    """,
                arguments: [app, after, limit]
            ).map { row in
                guard let id = row["position"] as Int64?, let at = row.time("at"), let events = row["events"] as Data?,
                    let kind = (row["kind"] as String?).flatMap(WebhookRecord.Event.init(rawValue:))
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
            return try Int64.fetchOne(
                database,
                sql: "SELECT max(position) FROM eventBlock WHERE app = ? AND at < ?",
                arguments: [app, before.milliseconds]
            ) ?? 0
        }
    }

    package func forgetEvents(before: Timestamp) async throws -> Int {
        try await self.database.execute("DELETE FROM eventBlock WHERE at < ?", [before.milliseconds])
    }

    /// Reads a webhook's row.
    /// - Parameter masterKey: the key that opens the secret; `nil` leaves the secret out.
    static func webhook(_ row: Row, _ masterKey: MasterKey?) throws -> WebhookRecord {
        guard let id = row.uuid("id"), let app = row["app"] as Int64?, let url = row["url"] as String?,
            let sealed = row["sealed"] as Data?, let events = row["events"] as String?,
            let isActive = row["isActive"] as Bool?, let createdAt = row.time("createdAt"),
            let cursor = row["cursor"] as Int64?, let failures = row["failures"] as Int?,
            let version = row["version"] as Int64?
        else { throw DamagedRow(table: "webhook") }
        // A secret that was sealed with another key, or for another webhook, cannot be used.
        guard let secret = masterKey.map({ try? $0.open(sealed, for: .webhook(id, app: app)) }) ?? "" else {
            throw DamagedRow(table: "webhook")
        }
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
