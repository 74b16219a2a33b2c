package import ProviderModel

extension SQLStore {
    private static let maximumCount = 99_999

    package func changeBadges(
        by increment: Int,
        notification: Int64,
        app: Int64,
        holders: [BytewiseString]
    ) async throws -> [BytewiseString: Int] {
        guard !holders.isEmpty else { return [:] }
        return try await self.database.write { database in
            var counts: [BytewiseString: Int] = [:]
            for holder in holders where counts[holder] == nil {
                let shown = "SELECT count FROM badgeStep WHERE notification = ? AND holder = ?"
                if let count = try database.integer(sql: shown, [notification, holder.text]) {
                    counts[holder] = Int(count)
                    continue
                }
                let before = try database.count(sql: Self.badge, [app, holder.text])
                // The increment is clamped, so that the addition cannot overflow.
                let change = min(max(increment, -Self.maximumCount), Self.maximumCount)
                let count = min(max(before + change, 0), Self.maximumCount)
                try database.replace(in: "badge", key: ["app": app, "holder": holder.text], ["count": count])
                let step: ColumnValues = ["notification": notification, "holder": holder.text, "count": count]
                try database.insert(into: "badgeStep", of: .notification, step)
                counts[holder] = count
            }
            return counts
        }
    }

    private static let badge = "SELECT count FROM badge WHERE app = ? AND holder = ?"

    package func badge(app: Int64, holder: String) async throws -> Int {
        try await self.database.read { try $0.count(sql: Self.badge, [app, holder]) }
    }

    package func setBadge(_ count: Int, app: Int64, holder: String) async throws -> Bool {
        try await self.database.write { database in
            guard try AppRows(database: database).has(app) else { return false }
            try database.replace(in: "badge", key: ["app": app, "holder": holder], ["count": count])
            return true
        }
    }
}
