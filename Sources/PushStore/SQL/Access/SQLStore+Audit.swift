import Foundation
package import ProviderModel
package import PushTypes

extension SQLStore {
    package func addAudit(_ entry: AuditRecord) async throws -> Int64 {
        try await self.database.write { database in
            try database.insert(
                into: "audit",
                [
                    "at": entry.at.milliseconds, "key": entry.key?.uuidString, "keyName": entry.keyName,
                    "isPerson": entry.isPerson, "action": entry.action, "resource": entry.resource,
                    "status": entry.status, "count": entry.count,
                ],
                returning: "id"
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

    package func audit(_ filter: AuditFilter, before: Int64?, limit: Int) async throws -> ListPage<AuditRecord> {
        var scan = KeysetScan(
            table: "audit",
            key: "id",
            number: "id",
            isDescending: true,
            range: "id < ?",
            rangeArguments: [(before ?? .max).sqlValue],
            filter: [],
            filterArguments: []
        )
        TimeBlocks.audit.bound(&scan, from: filter.from, to: filter.to)
        scan.require("at >= ?", filter.from?.milliseconds)
        scan.require("at < ?", filter.to?.milliseconds)
        scan.require("key = ?", filter.key?.uuidString)
        scan.require("instr(lower(keyName), lower(?)) > 0", filter.name)
        scan.require("instr(lower(action), lower(?)) > 0", filter.action)
        scan.require("resource = ?", filter.resource)
        switch filter.hasFailed {
        case true: scan.filter.append("status >= 400")
        case false: scan.filter.append("status < 400")
        case nil: break
        }
        return try await self.database.lookup { [scan] database in
            let result = try scan.run(limit: limit, rows: KeysetScan.maximumRows, in: database)
            let entries = try result.found.compactMap { entry in
                try database.row(sql: "SELECT * FROM audit WHERE id = ?", [entry.number]).map(AuditRecord.init(row:))
            }
            return ListPage(entries: entries, next: result.end.map(ListPosition.init))
        }
    }
}

extension AuditRecord: StoredRecord {
    static let table = "audit"

    init(_ row: StoredRow) throws {
        self.init(
            id: try row.get("id"),
            at: try row.get("at"),
            key: row["key"],
            keyName: try row.get("keyName"),
            isPerson: row["isPerson"] ?? false,
            action: try row.get("action"),
            resource: row["resource"],
            status: try row.get("status"),
            count: try row.get("count")
        )
    }
}
