import Foundation
import GRDB
package import PushTypes

extension SQLiteStore {
    package func addAudit(_ entry: AuditRecord) async throws -> Int64 {
        try await self.database.write { database in
            try database.insert(
                into: "audit",
                [
                    "at": entry.at.milliseconds, "key": entry.key?.uuidString, "keyName": entry.keyName,
                    "isPerson": entry.isPerson, "action": entry.action, "resource": entry.resource,
                    "status": entry.status, "count": entry.count,
                ]
            )
        }
    }

    package func setAuditCount(_ count: Int, of id: Int64) async throws {
        try await self.database.run(sql: "UPDATE audit SET count = ? WHERE id = ?", [count, id])
    }

    package func forgetAudit(before: Timestamp, limit: Int) async throws -> Int {
        let sql = "DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE at < ? ORDER BY at LIMIT ?)"
        return try await self.database.run(sql: sql, [before.milliseconds, limit])
    }

    package func audit(before: Int64?, limit: Int) async throws -> [AuditRecord] {
        let sql = "SELECT * FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?"
        return try await self.database.lookup { database in
            try database.rows(sql: sql, [before ?? Int64.max, limit]).map { row in
                guard let id = row["id"] as Int64?, let at = row.time("at"), let name = row["keyName"] as String?,
                    let action = row["action"] as String?, let status = row["status"] as Int?,
                    let count = row["count"] as Int?
                else { throw DamagedRow(table: "audit") }
                return AuditRecord(
                    id: id,
                    at: at,
                    key: row.uuid("key"),
                    keyName: name,
                    isPerson: row["isPerson"] as Bool? ?? false,
                    action: action,
                    resource: row["resource"],
                    status: status,
                    count: count
                )
            }
        }
    }
}
