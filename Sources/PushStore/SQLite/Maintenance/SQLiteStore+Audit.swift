import Foundation
import GRDB
package import PushTypes

extension SQLiteStore {
    package func addAudit(_ entry: AuditRecord) async throws -> Int64 {
        try await self.database.write { database in
            try database.execute(
                sql: "INSERT INTO audit (at, key, keyName, action, status, count) VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [
                    entry.at.milliseconds, entry.key?.uuidString, entry.keyName, entry.action, entry.status,
                    entry.count,
                ]
            )
            return database.lastInsertedRowID
        }
    }

    package func setAuditCount(_ count: Int, of id: Int64) async throws {
        try await self.database.execute("UPDATE audit SET count = ? WHERE id = ?", [count, id])
    }

    package func forgetAudit(before: Timestamp, limit: Int) async throws -> Int {
        try await self.database.execute(
            "DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE at < ? ORDER BY at LIMIT ?)",
            [before.milliseconds, limit]
        )
    }

    package func audit(before: Int64?, limit: Int) async throws -> [AuditRecord] {
        try await self.database.lookup { database in
            try Row.fetchAll(
                database,
                sql: "SELECT * FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?",
                arguments: [before ?? Int64.max, limit]
            ).map { row in
                guard let id = row["id"] as Int64?, let at = row.time("at"), let name = row["keyName"] as String?,
                    let action = row["action"] as String?, let status = row["status"] as Int?,
                    let count = row["count"] as Int?
                else { throw DamagedRow(table: "audit") }
                return AuditRecord(
                    id: id,
                    at: at,
                    key: row.uuid("key"),
                    keyName: name,
                    action: action,
                    status: status,
                    count: count
                )
            }
        }
    }
}
