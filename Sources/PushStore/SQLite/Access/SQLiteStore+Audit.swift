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
}
