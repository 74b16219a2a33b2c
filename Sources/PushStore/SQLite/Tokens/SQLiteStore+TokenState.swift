import Foundation
import GRDB
package import PushTypes

extension SQLiteStore {
    package func health(app: Int64, environment: PushEnvironment) async throws -> EnvironmentHealth {
        try await self.database.read { database in
            var health = EnvironmentHealth(
                epoch: try EnvironmentPauses.epoch(app: app, environment: environment, in: database)
            )
            let sql = "SELECT * FROM health WHERE app = ? AND environment = ?"
            guard let row = try database.row(sql: sql, [app, environment.code]) else { return health }
            health.breakerOpenSince = row.time("breakerOpenSince")
            health.breakerReason = row["breakerReason"]
            health.provenAt = row.time("provenAt")
            return health
        }
    }

    package func setHealth(_ health: EnvironmentHealth, app: Int64, environment: PushEnvironment) async throws {
        let sql = """
            INSERT INTO health (app, environment, breakerOpenSince, breakerReason)
            SELECT id, ?2, ?3, ?4 FROM app
            WHERE id = ?1 AND ?5 = coalesce((
                SELECT epoch FROM environmentState WHERE app = ?1 AND environment = ?2), 0)
            ON CONFLICT (app, environment) DO UPDATE
            SET breakerOpenSince = excluded.breakerOpenSince, breakerReason = excluded.breakerReason
            """
        let since = health.breakerOpenSince?.milliseconds
        try await self.database.run(sql: sql, [app, environment.code, since, health.breakerReason, health.epoch])
    }

    package func setProven(app: Int64, environment: PushEnvironment, epoch: Int64, at: Timestamp) async throws {
        let sql = """
            INSERT INTO health (app, environment, provenAt)
            SELECT id, ?2, ?3 FROM app
            WHERE id = ?1 AND ?4 = coalesce((
                SELECT epoch FROM environmentState WHERE app = ?1 AND environment = ?2), 0)
            ON CONFLICT (app, environment) DO UPDATE SET provenAt = coalesce(provenAt, excluded.provenAt)
            """
        try await self.database.run(sql: sql, [app, environment.code, at.milliseconds, epoch])
    }

    package func firstDevice(addedSince time: Timestamp) async throws -> Int64 {
        try await self.database.read { database in
            let last = try database.integer(sql: "SELECT max(id) FROM device") ?? 0
            let next = "SELECT id, createdAt FROM device WHERE id >= ? ORDER BY id LIMIT 1"
            // A binary search: devices before `low` were added earlier, those from `high` on were not.
            var (low, high) = (Int64(1), last < .max ? last + 1 : last)
            while low < high {
                let middle = low + (high - low) / 2
                guard let row = try database.row(sql: next, [middle]), let id = row["id"] as Int64?,
                    let createdAt = row.time("createdAt")
                else { return low }
                if createdAt < time { low = max(middle, id) + 1 } else { high = middle }
            }
            return low
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
        var arguments: StatementArguments = [app, before ?? Int64.max]
        if let token {
            condition += " AND token = ?"
            arguments += [token.databaseValue]
        }
        if let action { condition += " AND action = '\(action.rawValue)'" }
        let sql = "SELECT * FROM tokenEvent WHERE \(condition) ORDER BY id DESC LIMIT ?"
        let bound = arguments + [limit]
        return try await self.database.query { database in
            try database.rows(sql: sql, bound).compactMap { try $0.readable(TokenEventWriter.record) }
        }
    }

    package func withheldTokens(app: Int64, environment: PushEnvironment) async throws -> Int {
        let sql = "SELECT count(*) FROM tokenEvent WHERE action = 'withheld' AND app = ? AND environment = ?"
        return try await self.database.query { try Int($0.integer(sql: sql, [app, environment.code]) ?? 0) }
    }

    package func settleWithheld(
        app: Int64,
        environment: PushEnvironment,
        deactivates: Bool,
        now: Timestamp
    ) async throws -> Int {
        // Several transactions, so that other writers do not wait long.
        let size = 5000
        var (settled, after, isLast) = (0, Int64(0), false)
        while !isLast {
            let first = after
            let rows = try await self.database.write { database in
                let sql = """
                    SELECT id, device, reason, since FROM tokenEvent
                    WHERE app = ? AND environment = ? AND action = 'withheld' AND id > ? ORDER BY id LIMIT ?
                    """
                let rows = try database.rows(sql: sql, [app, environment.code, first, size])
                try Self.settle(rows, app: app, deactivates: deactivates, now: now, in: database)
                if rows.count < size {
                    // Only with the last page, so that the rest can be settled after a crash.
                    let close = """
                        UPDATE health SET breakerOpenSince = NULL, breakerReason = NULL WHERE app = ? AND environment = ?
                        """
                    try database.run(sql: close, app, environment.code)
                }
                return (count: rows.count, last: rows.last?["id"] as Int64?)
            }
            settled += rows.count
            after = rows.last ?? after
            isLast = rows.count < size
        }
        return settled
    }

    /// Settles withheld deactivations.
    private static func settle(
        _ rows: [Row],
        app: Int64,
        deactivates: Bool,
        now: Timestamp,
        in database: Database
    ) throws {
        let events = try TokenEventWriter(app: app, now: now, in: database)
        let invalidation = TokenInvalidation(events: events, notification: nil)
        for row in rows {
            guard let id = row["id"] as Int64?, let device = row["device"] as Int64? else { continue }
            try database.run(sql: "UPDATE tokenEvent SET action = 'settled' WHERE id = ?", id)
            guard deactivates, let since = row.time("since") else { continue }
            try invalidation.apply(
                TokenStateChange(device: device, kind: .deactivated(since: since), reason: row["reason"])
            )
        }
        try events.announce()
    }
}
