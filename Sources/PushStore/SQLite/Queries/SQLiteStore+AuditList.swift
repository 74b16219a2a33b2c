import Foundation
import GRDB
import PushTypes

extension SQLiteStore {
    package func audit(_ filter: AuditFilter, before: Int64?, limit: Int) async throws -> ListPage<AuditRecord> {
        var scan = KeysetScan(
            table: "audit",
            key: "id",
            number: "id",
            isDescending: true,
            range: "id < ?",
            rangeArguments: [(before ?? .max).databaseValue],
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
                try database.row(sql: "SELECT * FROM audit WHERE id = ?", [entry.number]).map(Self.auditRecord)
            }
            return ListPage(entries: entries, next: result.end.map(ListPosition.init))
        }
    }

    /// Reads an entry's row.
    /// - Throws: ``DamagedRow``.
    private static func auditRecord(_ row: Row) throws -> AuditRecord {
        guard let id = row["id"] as Int64?, let at = row.time("at"), let name = row["keyName"] as String?,
            let action = row["action"] as String?, let status = row["status"] as Int?, let count = row["count"] as Int?
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
