package import ProviderModel
package import PushTypes

extension SQLStore {
    package func addShadow(
        _ comparison: ShadowComparison,
        of kind: BridgeKind,
        name: String,
        app: Int64,
        now: Timestamp
    ) async throws {
        try await self.database.write { database in
            let agrees = comparison.differences.isEmpty ? 1 : 0
            let count: ColumnValues = [
                "kind": kind.rawValue, "name": name, "app": app, "since": now.milliseconds, "requests": 1,
                "agreements": agrees,
            ]
            let addition = """
                ON CONFLICT (kind, name, app) DO UPDATE
                SET requests = shadow.requests + excluded.requests, agreements = shadow.agreements + excluded.agreements
                """
            try database.insert(into: "shadow", of: .app, count, addition)
            guard agrees == 0 else { return }
            for difference in comparison.differences.prefix(ShadowComparison.maximumDifferences) {
                try database.insert(
                    into: "shadowDifference",
                    [
                        "kind": kind.rawValue, "name": name, "app": app, "at": difference.at.milliseconds,
                        "subject": difference.subject, "field": difference.field, "ours": difference.ours,
                        "theirs": difference.theirs,
                    ]
                )
            }
            let old = """
                DELETE FROM shadowDifference WHERE app = ?1 AND kind = ?2 AND name = ?3 AND number <= (
                    SELECT number FROM shadowDifference WHERE app = ?1 AND kind = ?2 AND name = ?3
                    ORDER BY number DESC LIMIT 1 OFFSET ?4)
                """
            try database.run(sql: old, [app, kind.rawValue, name, ShadowReport.maximumDifferences])
        }
    }

    package func shadow(_ kind: BridgeKind, name: String, app: Int64) async throws -> ShadowReport? {
        try await self.database.lookup { database in
            let sql = "SELECT * FROM shadow WHERE kind = ? AND name = ? AND app = ?"
            guard let row = try database.row(sql: sql, [kind.rawValue, name, app]), let since = row.time("since"),
                let requests = row["requests"] as Int?, let agreements = row["agreements"] as Int?
            else { return nil }
            let newest = """
                SELECT * FROM shadowDifference WHERE app = ? AND kind = ? AND name = ? ORDER BY number DESC LIMIT ?
                """
            let rows = try database.rows(sql: newest, [app, kind.rawValue, name, ShadowReport.maximumDifferences])
            return ShadowReport(
                since: since,
                requests: requests,
                agreements: agreements,
                differences: rows.compactMap(Self.shadowDifference)
            )
        }
    }

    package func clearShadow(_ kind: BridgeKind, name: String, app: Int64) async throws {
        try await self.database.write { database in
            for table in ["shadow", "shadowDifference"] {
                let sql = "DELETE FROM \(table) WHERE app = ? AND kind = ? AND name = ?"
                try database.run(sql: sql, [app, kind.rawValue, name])
            }
        }
    }

    private static func shadowDifference(_ row: SQLRow) -> ShadowDifference? {
        guard let at = row.time("at"), let subject = row["subject"] as String?, let ours = row["ours"] as String?,
            let theirs = row["theirs"] as String?
        else { return nil }
        return ShadowDifference(at: at, subject: subject, field: row["field"], ours: ours, theirs: theirs)
    }
}
