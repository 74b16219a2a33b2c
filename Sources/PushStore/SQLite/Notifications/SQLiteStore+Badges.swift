import GRDB

extension SQLiteStore {
    /// The highest count that is stored.
    private static let maximumCount = 99_999

    package func changeBadges(
        by increment: Int,
        notification: Int64,
        app: Int64,
        holders: [ExactText]
    ) async throws -> [ExactText: Int] {
        guard !holders.isEmpty else { return [:] }
        return try await self.database.write { database in
            var counts: [ExactText: Int] = [:]
            for holder in holders where counts[holder] == nil {
                let shown = "SELECT count FROM badgeStep WHERE notification = ? AND holder = ?"
                if let count = try database.integer(sql: shown, [notification, holder.text]) {
                    counts[holder] = Int(count)
                    continue
                }
                let before = try database.count(sql: Self.badge, [app, holder.text])
                // Clamped, so that no increment overflows.
                let step = min(max(increment, -Self.maximumCount), Self.maximumCount)
                let count = min(max(before + step, 0), Self.maximumCount)
                try database.run(sql: Self.setBadge, [app, holder.text, count])
                let steps = "INSERT INTO badgeStep (notification, holder, count) VALUES (?, ?, ?)"
                try database.run(sql: steps, [notification, holder.text, count])
                counts[holder] = count
            }
            return counts
        }
    }

    private static let badge = "SELECT count FROM badge WHERE app = ? AND holder = ?"
    private static let setBadge = "INSERT OR REPLACE INTO badge (app, holder, count) VALUES (?, ?, ?)"

    package func badge(app: Int64, holder: String) async throws -> Int {
        try await self.database.read { try $0.count(sql: Self.badge, [app, holder]) }
    }

    package func setBadge(_ count: Int, app: Int64, holder: String) async throws -> Bool {
        try await self.database.write { database in
            guard try Self.hasApp(app, in: database) else { return false }
            try database.run(sql: Self.setBadge, [app, holder, count])
            return true
        }
    }
}
