import GRDB
package import PushTypes

extension SQLiteStore {
    package func setProven(app: Int64, environment: PushEnvironment, at: Timestamp) async throws {
        try await self.database.write { database in
            try database.execute(
                sql: """
                    INSERT INTO health (app, environment, provenAt) VALUES (?, ?, ?)
                    ON CONFLICT (app, environment) DO UPDATE SET provenAt = coalesce(provenAt, excluded.provenAt)
                    """,
                arguments: [app, environment.code, at.milliseconds]
            )
        }
    }

    package func firstDevice(addedSince moment: Timestamp) async throws -> Int64 {
        try await self.database.read { database in
            let last = try Int64.fetchOne(database, sql: "SELECT max(id) FROM device") ?? 0
            let next = try database.cachedStatement(
                sql: "SELECT id, createdAt FROM device WHERE id >= ? ORDER BY id LIMIT 1"
            )
            // Halves the ids: those before `low` were added earlier, those from `high` on are not.
            var (low, high) = (Int64(1), last < .max ? last + 1 : last)
            while low < high {
                let middle = low + (high - low) / 2
                guard let row = try Row.fetchOne(next, arguments: [middle]), let id = row["id"] as Int64?,
                    let createdAt = row.time("createdAt")
                else { return .max }
                if createdAt < moment { low = max(middle, id) + 1 } else { high = middle }
            }
            return low > last ? .max : low
        }
    }
}
