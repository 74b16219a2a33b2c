package import Foundation
package import ProviderModel
package import PushTypes

extension SQLStore {
    package func addWebhook(_ webhook: WebhookRecord, limit: Int) async throws -> Bool {
        let sealed = try self.masterKey.seal(webhook.secret, for: .webhook(webhook.id, app: webhook.app))
        return try await self.database.write { database in
            let others = try database.count(sql: "SELECT count(*) FROM webhook WHERE app = ?", [webhook.app])
            guard others < limit else { return false }
            // Earlier events are not sent to the new webhook.
            try EventPositions.giveAll(app: webhook.app, in: database)
            let cursor = try EventPositions.last(app: webhook.app, in: database)
            try database.insert(
                into: "webhook",
                of: .app,
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
                if let webhook = try row.readable({ try WebhookRecord(row: $0, self.masterKey) }) {
                    list.webhooks.append(webhook)
                } else {
                    list.unreadable.append(row["id"] as String? ?? "")
                }
            }
            return list
        }
    }

    package func webhook(_ id: UUID) async throws -> WebhookRecord? {
        try await self.database.read { try WebhookRecord.find(id, self.masterKey, in: $0) }
    }

    package func changeWebhook(_ id: UUID, _ change: WebhookChange) async throws -> WebhookRecord? {
        let masterKey = self.masterKey
        return try await self.database.write { database in
            guard var webhook = try WebhookRecord.find(id, masterKey, in: database) else { return nil }
            change.apply(to: &webhook)
            var columns = webhook.columns
            columns += ["url": webhook.url, "events": webhook.eventText]
            if change.signing != nil {
                columns += ["sealed": try masterKey.seal(webhook.secret, for: .webhook(id, app: webhook.app))]
            }
            try database.update("webhook", columns, id: id.uuidString)
            return webhook
        }
    }

    package func settleWebhook(_ id: UUID, _ outcome: WebhookOutcome) async throws -> Bool {
        try await self.database.write { database in
            guard let webhook = try WebhookRecord.find(id, in: database).flatMap({ outcome.applied(to: $0) })
            else { return false }
            try database.update("webhook", webhook.columns, id: id.uuidString)
            if let post = outcome.post { try Self.note(post, of: webhook, in: database) }
            return true
        }
    }

    /// Stores an acknowledged request. The first request with a block is kept, because later ones are replays.
    private static func note(_ post: AcknowledgedPost, of webhook: WebhookRecord, in database: any SQLConnection) throws
    {
        let values: ColumnValues = [
            "webhook": webhook.id.uuidString, "last": post.last, "first": post.first, "app": webhook.app,
            "postedAt": post.postedAt.milliseconds, "acknowledgedAt": post.acknowledgedAt.milliseconds,
        ]
        try database.insert(into: "webhookPost", values, "ON CONFLICT DO NOTHING")
    }

    package func deleteWebhook(_ id: UUID) async throws -> Bool {
        try await self.database.write { database in
            try database.run(sql: "DELETE FROM webhookPost WHERE webhook = ?", [id.uuidString])
            return try database.run(sql: "DELETE FROM webhook WHERE id = ?", [id.uuidString]) > 0
        }
    }

    package func wants(_ kind: WebhookRecord.Event, app: Int64) async throws -> Bool {
        try await self.database.apps.value(.wants(kind, app: app)) {
            try await self.database.read { try EventBlockRow.isWanted(kind, app: app, in: $0) }
        }
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
            try await self.database.writeLedger { try EventPositions.give(app: app, in: $0) }
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

    package func deliveries(to webhook: WebhookRecord, before: Int64?, limit: Int) async throws
        -> [WebhookDeliveryRecord]
    {
        let kinds = webhook.events.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
        let sql = """
            SELECT position, kind, at, length(events) AS bytes FROM eventBlock INDEXED BY eventBlockByPosition
            WHERE app = ? AND position IS NOT NULL AND position < ? AND kind IN (\(kinds))
            ORDER BY position DESC LIMIT ?
            """
        let post = """
            SELECT postedAt, acknowledgedAt FROM webhookPost
            WHERE webhook = ?1 AND last >= ?2 AND first <= ?2 ORDER BY last LIMIT 1
            """
        return try await self.database.query { database in
            try database.rows(sql: sql, [webhook.app, before ?? .max, limit], isKept: false).compactMap { row in
                guard let block = row["position"] as Int64?, let kind: WebhookRecord.Event = row.value("kind"),
                    let at = row.time("at")
                else { return nil }
                let acknowledged = try database.row(sql: post, [webhook.id.uuidString, block])
                return WebhookDeliveryRecord(
                    block: block,
                    kind: kind,
                    at: at,
                    bytes: row["bytes"] ?? 0,
                    isAcknowledged: block <= webhook.cursor || acknowledged != nil,
                    postedAt: acknowledged?.time("postedAt"),
                    acknowledgedAt: acknowledged?.time("acknowledgedAt")
                )
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
}

extension WebhookRecord: StoredRecord {
    static let table = "webhook"

    init(_ row: StoredRow) throws {
        let (id, app, events): (UUID, Int64, String) = (try row.get("id"), try row.get("app"), try row.get("events"))
        self.init(
            id: id,
            app: app,
            url: try row.get("url"),
            secret: try row.open("sealed", for: .webhook(id, app: app)) ?? "",
            events: Set(events.split(separator: " ").compactMap { Event(rawValue: String($0)) }),
            isActive: try row.get("isActive"),
            createdAt: try row.get("createdAt"),
            cursor: try row.get("cursor")
        )
        (self.failures, self.version) = (try row.get("failures"), try row.get("version"))
        (self.nextTryAt, self.lastError) = (row["nextTryAt"], row["lastError"])
        self.lastSuccessAt = row["lastSuccessAt"]
    }

    /// The columns that both API requests and the delivery of events change.
    fileprivate var columns: ColumnValues {
        [
            "cursor": self.cursor, "failures": self.failures, "nextTryAt": self.nextTryAt?.milliseconds,
            "lastError": self.lastError, "lastSuccessAt": self.lastSuccessAt?.milliseconds,
            "isActive": self.isActive, "version": self.version,
        ]
    }

    fileprivate var eventText: String { self.events.map(\.rawValue).sorted().joined(separator: " ") }
}

enum EventBlockRow {
    static func isWanted(_ kind: WebhookRecord.Event, app: Int64, in database: any SQLConnection) throws -> Bool {
        let sql = "SELECT 1 FROM webhook WHERE app = ? AND isActive = 1 AND instr(events, ?) > 0 LIMIT 1"
        return try database.hasRow(sql: sql, [app, kind.rawValue])
    }

    @discardableResult
    static func add(
        _ kind: WebhookRecord.Event,
        _ events: Data,
        app: Int64,
        now: Timestamp,
        in database: any SQLConnection
    ) throws -> Int64 {
        let values: ColumnValues = ["app": app, "kind": kind.rawValue, "at": now.milliseconds, "events": events]
        return try database.insert(into: "eventBlock", values, returning: "id")
    }
}
