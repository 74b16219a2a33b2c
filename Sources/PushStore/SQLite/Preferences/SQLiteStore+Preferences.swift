import GRDB

extension SQLiteStore {
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

    package func setPreferences(_ preferences: Preferences, app: Int64, user: String) async throws {
        guard preferences != Preferences() else {
            let sql = "DELETE FROM userPreference WHERE app = ? AND user = ?"
            try await self.database.run(sql: sql, [app, user])
            return
        }
        let sql = "INSERT OR REPLACE INTO userPreference (app, user, optOuts, quietHours) VALUES (?, ?, ?, ?)"
        let (optOuts, hours) = (StoredOptOuts.text(preferences.optOuts), preferences.quietHours?.stored)
        try await self.database.run(sql: sql, [app, user, optOuts, hours])
    }
}
