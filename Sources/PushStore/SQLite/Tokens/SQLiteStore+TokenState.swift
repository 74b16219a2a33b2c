import Foundation
import GRDB
package import PushTypes

extension SQLiteStore {
    package func health(app: Int64, environment: PushEnvironment) async throws -> EnvironmentHealth {
        try await self.database.read { database in
            var health = EnvironmentHealth()
            guard
                let row = try Row.fetchOne(
                    database,
                    sql: "SELECT * FROM health WHERE app = ? AND environment = ?",
                    arguments: [app, environment.code]
                )
            else { return health }
            health.breakerOpenSince = row.time("breakerOpenSince")
            health.breakerReason = row["breakerReason"]
            health.provenAt = row.time("provenAt")
            return health
        }
    }

    package func setHealth(
        _ health: EnvironmentHealth,
        app: Int64,
        environment: PushEnvironment
    ) async throws {
        try await self.database.execute(
            """
            INSERT INTO health (app, environment, breakerOpenSince, breakerReason) VALUES (?, ?, ?, ?)
            ON CONFLICT (app, environment) DO UPDATE
            SET breakerOpenSince = excluded.breakerOpenSince, breakerReason = excluded.breakerReason
            """,
            [app, environment.code, health.breakerOpenSince?.milliseconds, health.breakerReason]
        )
    }

    package func setProven(app: Int64, environment: PushEnvironment, at: Timestamp) async throws {
        try await self.database.execute(
            """
            INSERT INTO health (app, environment, provenAt) VALUES (?, ?, ?)
            ON CONFLICT (app, environment) DO UPDATE SET provenAt = coalesce(provenAt, excluded.provenAt)
            """,
            [app, environment.code, at.milliseconds]
        )
    }

    package func firstDevice(addedSince time: Timestamp) async throws -> Int64 {
        try await self.database.read { database in
            let last = try Int64.fetchOne(database, sql: "SELECT max(id) FROM device") ?? 0
            let next = try database.cachedStatement(
                sql: "SELECT id, createdAt FROM device WHERE id >= ? ORDER BY id LIMIT 1"
            )
            // A binary search: devices before `low` were added earlier, those from `high` on were not.
            var (low, high) = (Int64(1), last < .max ? last + 1 : last)
            while low < high {
                let middle = low + (high - low) / 2
                guard let row = try Row.fetchOne(next, arguments: [middle]), let id = row["id"] as Int64?,
                    let createdAt = row.time("createdAt")
                else { return .max }
                if createdAt < time { low = max(middle, id) + 1 } else { high = middle }
            }
            return low > last ? .max : low
        }
    }

    package func tokenEvents(
        app: Int64,
        token: DeviceToken?,
        action: TokenEventRecord.Action?,
        before: Int64?,
        limit: Int
    ) async throws -> [TokenEventRecord] {
        var condition = "app = ? AND id < ?"
        var arguments = [app.databaseValue, (before ?? Int64.max).databaseValue]
        if let token {
            condition += " AND token = ?"
            arguments.append(token.databaseValue)
        }
        if let action {
            condition += " AND action = ?"
            arguments.append(action.rawValue.databaseValue)
        }
        let (sql, bound) = (
            "SELECT * FROM tokenEvent WHERE \(condition) ORDER BY id DESC LIMIT ?", arguments + [limit.databaseValue]
        )
        return try await self.database.query { database in
            try Row.fetchAll(database, sql: sql, arguments: StatementArguments(bound)).compactMap(
                TokenEventWriter.readable
            )
        }
    }

    package func settleWithheld(
        app: Int64,
        environment: PushEnvironment,
        deactivates: Bool,
        now: Timestamp
    ) async throws -> Int {
        var (settled, page, isLast) = (0, SettledPage(), false)
        while !isLast {
            let after = page.last
            page = try await self.database.write { database in
                try Self.settlePage(
                    app: app,
                    environment: environment,
                    after: after,
                    deactivates: deactivates,
                    now: now,
                    in: database
                )
            }
            settled += page.count
            isLast = page.count < Self.settledAtATime
        }
        return settled
    }

    /// The most withheld deactivations that are settled in one transaction, so that other writers do not wait long.
    private static let settledAtATime = 5000

    /// A number of withheld deactivations that were settled in one transaction.
    private struct SettledPage {
        var count = 0
        /// The id of the last event of the page.
        var last: Int64 = 0
    }

    /// Settles a page of withheld deactivations. The breaker closes with the last page, so that the rest can be settled
    /// after a crash.
    private static func settlePage(
        app: Int64,
        environment: PushEnvironment,
        after: Int64,
        deactivates: Bool,
        now: Timestamp,
        in database: Database
    ) throws -> SettledPage {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT id, device, reason, since FROM tokenEvent
                WHERE app = ? AND environment = ? AND action = 'withheld' AND id > ? ORDER BY id LIMIT ?
                """,
            arguments: [app, environment.code, after, Self.settledAtATime]
        )
        let invalidation = TokenInvalidation(app: app, notification: nil, now: now, database: database)
        let last = try TokenEventWriter.last(in: database)
        for row in rows {
            guard let id = row["id"] as Int64?, let device = row["device"] as Int64? else { continue }
            try database.execute(sql: "UPDATE tokenEvent SET action = 'settled' WHERE id = ?", arguments: [id])
            guard deactivates, let since = row.time("since") else { continue }
            let change = TokenStateChange(device: device, kind: .deactivated(since: since), reason: row["reason"])
            try invalidation.apply(change)
        }
        try TokenEventWriter.announce(after: last, app: app, at: now, in: database)
        if rows.count < Self.settledAtATime {
            try database.execute(
                sql:
                    "UPDATE health SET breakerOpenSince = NULL, breakerReason = NULL WHERE app = ? AND environment = ?",
                arguments: [app, environment.code]
            )
        }
        return SettledPage(count: rows.count, last: rows.last?["id"] ?? after)
    }
}
