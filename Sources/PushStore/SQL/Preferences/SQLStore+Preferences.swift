package import ProviderModel

extension SQLStore {
    package func preferences(app: Int64, user: String) async throws -> Preferences {
        let sql = "SELECT optOuts, quietHours FROM userPreference WHERE app = ? AND user = ?"
        return try await self.database.lookup { database in
            guard let row = try database.row(sql: sql, [app, user]) else { return Preferences() }
            return Preferences(
                optOuts: StoredOptOuts.read(row["optOuts"]),
                quietHours: (row["quietHours"] as String?).flatMap(QuietHours.init(stored:))
            )
        }
    }

    package func setPreferences(_ preferences: Preferences, app: Int64, user: String) async throws -> [Int64]? {
        let (optOuts, hours) = (StoredOptOuts.text(preferences.optOuts), preferences.quietHours?.stored)
        return try await self.database.write { database -> [Int64]? in
            guard try AppRows(database: database).has(app) else { return nil }
            if preferences == Preferences() {
                try database.run(sql: "DELETE FROM userPreference WHERE app = ? AND user = ?", [app, user])
            } else {
                let values: ColumnValues = ["optOuts": optOuts, "quietHours": hours]
                try database.replace(in: "userPreference", key: ["app": app, "user": user], values)
            }
            return try database.integers(sql: "SELECT id FROM device WHERE app = ? AND user = ?", [app, user])
        }
    }
}
