import GRDB
package import PushProtocol

extension SQLiteStore {
    package func forget(before: Timestamp, limit: Int) async throws -> Int {
        try await self.database.write { database in
            try database.execute(
                sql: "DELETE FROM tokenEvent WHERE id IN (SELECT id FROM tokenEvent WHERE at < ? ORDER BY id LIMIT ?)",
                arguments: [before.milliseconds, limit]
            )
            let events = database.changesCount
            let number = try Int64.fetchOne(
                database,
                sql: "SELECT number FROM notification WHERE finishedAt < ? ORDER BY finishedAt LIMIT 1",
                arguments: [before.milliseconds]
            )
            guard let number else { return events }
            try database.execute(
                sql: """
                    DELETE FROM delivery WHERE notification = ?1 AND recipient IN (
                        SELECT recipient FROM delivery WHERE notification = ?1 LIMIT ?2)
                    """,
                arguments: [number, limit]
            )
            let deliveries = database.changesCount
            guard deliveries < limit else { return events + deliveries }
            try database.execute(sql: "DELETE FROM notification WHERE number = ?", arguments: [number])
            return events + deliveries + 1
        }
    }
}
