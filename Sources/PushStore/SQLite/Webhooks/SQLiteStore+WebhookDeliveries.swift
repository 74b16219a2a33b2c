import Foundation
import GRDB
import PushTypes

extension SQLiteStore {
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
}
