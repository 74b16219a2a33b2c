import GRDB

extension SQLiteStore {
    /// The highest count that is stored.
    private static let maximumCount = 99_999

    package func changeBadges(
        by increment: Int,
        notification: Int64,
        app: Int64,
        holders: [String]
    ) async throws -> [String: Int] {
        guard !holders.isEmpty else { return [:] }
        return try await self.database.write { database in
            var counts: [String: Int] = [:]
            for holder in holders where counts[holder] == nil {
                counts[holder] = try Self.change(
                    holder,
                    by: increment,
                    notification: notification,
                    app: app,
                    in: database
                )
            }
            return counts
        }
    }

    /// Changes one count, unless the notification has changed it already.
    private static func change(
        _ holder: String,
        by increment: Int,
        notification: Int64,
        app: Int64,
        in database: Database
    ) throws -> Int {
        let select = try database.cachedStatement(
            sql: "SELECT count FROM badgeStep WHERE notification = ? AND holder = ?"
        )
        if let count = try Int.fetchOne(select, arguments: [notification, holder]) { return count }
        let before = try database.cachedStatement(sql: "SELECT count FROM badge WHERE app = ? AND holder = ?")
        let known = try Int.fetchOne(before, arguments: [app, holder]) ?? 0
        // Clamped, so that no increment overflows.
        let step = min(max(increment, -Self.maximumCount), Self.maximumCount)
        let count = min(max(known + step, 0), Self.maximumCount)
        try database.run("INSERT OR REPLACE INTO badge (app, holder, count) VALUES (?, ?, ?)", [app, holder, count])
        try database.run(
            "INSERT INTO badgeStep (notification, holder, count) VALUES (?, ?, ?)",
            [notification, holder, count]
        )
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
        try await self.database.execute(
            "INSERT OR REPLACE INTO badge (app, holder, count) VALUES (?, ?, ?)",
            [app, holder, count]
        )
    }
}
