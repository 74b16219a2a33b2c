import GRDB
import PushProtocol

extension SQLiteStore {
    package func raiseBadges(notification: Int64, app: Int64, holders: [String]) async throws -> [String: Int] {
        guard !holders.isEmpty else { return [:] }
        return try await self.database.write { database in
            var counts: [String: Int] = [:]
            for holder in holders where counts[holder] == nil {
                counts[holder] = try Self.raise(holder, notification: notification, app: app, in: database)
            }
            return counts
        }
    }

    private static func raise(
        _ holder: String,
        notification: Int64,
        app: Int64,
        in database: Database
    ) throws -> Int {
        let select = try database.cachedStatement(
            sql: "SELECT count FROM badgeStep WHERE notification = ? AND holder = ?"
        )
        if let count = try Int.fetchOne(select, arguments: [notification, holder]) { return count }
        let raise = try database.cachedStatement(
            sql: """
                INSERT INTO badge (app, holder, count) VALUES (?, ?, 1)
                ON CONFLICT (app, holder) DO UPDATE SET count = min(count + 1, \(Int32.max)) RETURNING count
                """
        )
        let count = try Int.fetchOne(raise, arguments: [app, holder]) ?? 1
        let step = try database.cachedStatement(
            sql: "INSERT INTO badgeStep (notification, holder, count) VALUES (?, ?, ?)"
        )
        try step.execute(arguments: [notification, holder, count])
        return count
    }

    package func badge(app: Int64, holder: String) async throws -> Int {
        try await self.database.read { database in
            try Int.fetchOne(
                database,
                sql: "SELECT count FROM badge WHERE app = ? AND holder = ?",
                arguments: [app, holder]
            ) ?? 0
        }
    }

    package func setBadge(_ count: Int, app: Int64, holder: String) async throws {
        try await self.database.write { database in
            try database.execute(
                sql: "INSERT OR REPLACE INTO badge (app, holder, count) VALUES (?, ?, ?)",
                arguments: [app, holder, count]
            )
        }
    }
}
