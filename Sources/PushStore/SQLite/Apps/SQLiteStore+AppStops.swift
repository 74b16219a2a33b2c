import Foundation
import GRDB
import PushTypes

extension SQLiteStore {
    package func stop(_ stop: AppStop) async throws -> AppStop {
        try await self.database.write { database in
            let sql = """
                INSERT INTO appStop (app, since, reason, key, keyName) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """
            let (key, name) = (stop.by?.id.uuidString, stop.by?.name)
            try database.run(sql: sql, [stop.app, stop.since.milliseconds, stop.reason, key, name])
            return try AppStops.stop(of: stop.app, in: database) ?? stop
        }
    }

    package func resumeApp(_ app: Int64) async throws -> Bool {
        try await self.database.run(sql: "DELETE FROM appStop WHERE app = ?", [app]) > 0
    }

    package func stop(of app: Int64) async throws -> AppStop? {
        try await self.database.apps.value(.stop(app: app)) {
            try await self.database.lookup { try AppStops.stop(of: app, in: $0) }
        }
    }

    package func stops() async throws -> [AppStop] {
        try await self.database.lookup { database in
            try database.rows(sql: "SELECT * FROM appStop ORDER BY since, app").compactMap(AppStops.stop)
        }
    }
}

/// The stops of apps, within a transaction.
enum AppStops {
    /// The condition that the app of a notification is not stopped.
    static let isNone = "notification.app NOT IN (SELECT app FROM appStop)"

    static func stop(of app: Int64, in database: Database) throws -> AppStop? {
        try database.row(sql: "SELECT * FROM appStop WHERE app = ?", [app]).flatMap(Self.stop)
    }

    static func stop(_ row: Row) -> AppStop? {
        guard let app = row["app"] as Int64?, let since = row.time("since") else { return nil }
        return AppStop(app: app, since: since, reason: row["reason"], by: row.key)
    }
}
