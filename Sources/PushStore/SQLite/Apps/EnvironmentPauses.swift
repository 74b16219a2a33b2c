package import Foundation
import GRDB
package import PushTypes

/// Reads and writes the pauses of environments within a transaction.
enum EnvironmentPauses {
    /// Returns `true` if an environment, or each for which the app has a credential, is paused.
    static func areHeld(_ environments: HoldingEnvironments, of app: Int64, in database: Database) throws -> Bool {
        switch environments {
        case .one(let environment):
            let sql = "SELECT 1 FROM environmentState WHERE app = ? AND environment = ? AND pausedSince IS NOT NULL"
            return try database.hasRow(sql: sql, [app, environment.code])
        case .all:
            let sql = """
                SELECT 1 FROM environmentState WHERE app = ?1 AND pausedSince IS NOT NULL AND NOT EXISTS (
                    SELECT 1 FROM credential WHERE app = ?1 AND environment NOT IN (
                        SELECT environment FROM environmentState WHERE app = ?1 AND pausedSince IS NOT NULL))
                """
            return try database.hasRow(sql: sql, [app])
        }
    }

    /// Writes a pause, unless the environment is paused already or the credential has changed.
    /// - Returns: `true` if it was written.
    static func write(_ request: EnvironmentPauseRequest, now: Timestamp, in database: Database) throws -> Bool {
        let (pause, target, fault) = (request.pause, request.pause.target, request.pause.fault)
        let sql = """
            INSERT INTO environmentState
                (app, environment, epoch, pausedSince, cause, detail, host, port, proofs)
            SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 FROM app
            WHERE id = ?1 AND ?3 = coalesce((
                SELECT epoch FROM environmentState WHERE app = ?1 AND environment = ?2), 0)
            ON CONFLICT (app, environment) DO UPDATE
            SET pausedSince = excluded.pausedSince, cause = excluded.cause, detail = excluded.detail,
                host = excluded.host, port = excluded.port, proofs = excluded.proofs
            WHERE pausedSince IS NULL AND ?10 = 0 OR pausedSince = excluded.pausedSince AND ?10 = 1
            """
        let values: StatementArguments = [
            target.app, target.environment.code, request.epoch, pause.since.milliseconds, fault.cause.rawValue,
            fault.detail, fault.host, fault.port, pause.proofs, request.replacesFault,
        ]
        guard try database.run(sql: sql, values) > 0 else { return false }
        try Self.add(request.event, of: target.app, now: now, in: database)
        return true
    }

    /// Ends a pause.
    /// - Returns: `true` if there was such a pause.
    static func end(
        _ target: AppEnvironment,
        since: Timestamp?,
        event: Data?,
        now: Timestamp,
        in database: Database
    ) throws -> Bool {
        let sql = """
            UPDATE environmentState
            SET pausedSince = NULL, cause = NULL, detail = NULL, host = NULL, port = NULL, proofs = NULL
            WHERE app = ?1 AND environment = ?2 AND pausedSince = coalesce(?3, pausedSince)
            """
        let values: StatementArguments = [target.app, target.environment.code, since?.milliseconds]
        guard try database.run(sql: sql, values) > 0 else { return false }
        try Self.add(event, of: target.app, now: now, in: database)
        return true
    }

    /// Starts another epoch: proofs against the earlier credential do not count.
    static func beginEpoch(app: Int64, environment: PushEnvironment, in database: Database) throws {
        let sql = """
            INSERT INTO environmentState (app, environment, epoch) VALUES (?, ?, 1)
            ON CONFLICT (app, environment) DO UPDATE SET epoch = epoch + 1
            """
        try database.run(sql: sql, [app, environment.code])
    }

    /// Returns the epoch of an environment's credential, also after its removal.
    static func epoch(app: Int64, environment: PushEnvironment, in database: Database) throws -> Int64 {
        let sql = "SELECT epoch FROM environmentState WHERE app = ? AND environment = ?"
        return try database.integer(sql: sql, [app, environment.code]) ?? 0
    }

    /// Reads a pause.
    /// - Throws: ``DamagedRow``.
    static func pause(_ row: Row) throws -> EnvironmentPause {
        guard let app = row["app"] as Int64?, let environment = row.environment("environment"),
            let since = row.time("pausedSince"), let cause = row.value("cause") as ConfigurationFault.Cause?
        else { throw DamagedRow(table: "environmentState") }
        let fault = ConfigurationFault(cause, detail: row["detail"] ?? "", host: row["host"], port: row["port"])
        let target = AppEnvironment(app: app, environment: environment)
        return EnvironmentPause(target, fault, since: since, proofs: row["proofs"] ?? 1)
    }

    private static func add(_ event: Data?, of app: Int64, now: Timestamp, in database: Database) throws {
        guard let event else { return }
        let kind = WebhookRecord.Event.environment.rawValue
        let values: Columns = ["app": app, "kind": kind, "at": now.milliseconds, "events": event]
        try database.insert(into: "eventBlock", values)
    }
}

extension SQLiteStore {
    package func environmentPauses() async throws -> [EnvironmentPause] {
        try await self.database.read { database in
            try database.rows(sql: "SELECT * FROM environmentState WHERE pausedSince IS NOT NULL")
                .compactMap { try $0.readable(EnvironmentPauses.pause) }
        }
    }

    package func credentialEpoch(_ target: AppEnvironment) async throws -> Int64 {
        try await self.database.read {
            try EnvironmentPauses.epoch(app: target.app, environment: target.environment, in: $0)
        }
    }

    package func pause(_ request: EnvironmentPauseRequest, now: Timestamp) async throws -> Bool {
        try await self.database.write { try EnvironmentPauses.write(request, now: now, in: $0) }
    }

    package func endPause(
        of target: AppEnvironment,
        since: Timestamp?,
        event: Data?,
        now: Timestamp
    ) async throws -> Bool {
        try await self.database.write {
            try EnvironmentPauses.end(target, since: since, event: event, now: now, in: $0)
        }
    }

    package func releaseHeld(by target: AppEnvironment, limit: Int) async throws -> Int {
        let (environment, both) = (target.environment.code, HoldingEnvironments.all.code)
        return try await self.database.write { database in
            guard try !EnvironmentPauses.areHeld(.one(target.environment), of: target.app, in: database)
            else { return 0 }
            let shards = """
                UPDATE shard SET heldApp = NULL, heldFor = NULL, notBefore = coalesce((
                    SELECT startsAt FROM notification WHERE notification.number = shard.notification), 0)
                WHERE (notification, number) IN (
                    SELECT notification, number FROM shard INDEXED BY shardHeld
                    WHERE heldApp = ? AND heldFor IN (?, ?) AND heldFor IS NOT NULL LIMIT ?)
                """
            let released = try database.run(sql: shards, [target.app, environment, both, limit])
            let retries = """
                UPDATE retry SET heldFor = NULL, dueAt = 0
                WHERE (notification, recipient) IN (
                    SELECT notification, recipient FROM retry INDEXED BY retryHeld
                    WHERE app = ? AND heldFor IN (?, ?) AND heldFor IS NOT NULL LIMIT ?)
                """
            guard released < limit else { return released }
            return released + (try database.run(sql: retries, [target.app, environment, both, limit - released]))
        }
    }

    package func holdingEnvironments() async throws -> [AppEnvironment] {
        let sql = """
            SELECT app, heldFor AS environment FROM retry WHERE heldFor IS NOT NULL GROUP BY app, heldFor
            UNION SELECT heldApp, heldFor FROM shard WHERE heldFor IS NOT NULL GROUP BY heldApp, heldFor
            """
        return try await self.database.read { database in
            let rows = try database.rows(sql: sql)
            let targets = rows.flatMap { row -> [AppEnvironment] in
                guard let app = row["app"] as Int64? else { return [] }
                let one = row.environment("environment").map { [$0] }
                return (one ?? PushEnvironment.allCases).map { AppEnvironment(app: app, environment: $0) }
            }
            return Array(Set(targets))
        }
    }
}
