package import Foundation
package import ProviderModel
package import PushTypes

/// Reads and writes the pauses of environments within a transaction.
enum EnvironmentPauseTable {
    /// Returns whether the environment is paused or, for `all`, whether every environment with a credential is.
    static func areHeld(_ environments: HoldingEnvironments, of app: Int64, in database: any SQLConnection) throws
        -> Bool
    {
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

    /// Records the pause of an environment, unless it is already paused or its credential has changed.
    /// - Returns: Whether the pause was recorded.
    static func write(_ request: EnvironmentPauseRequest, now: Timestamp, in database: any SQLConnection) throws -> Bool
    {
        let (pause, target, fault) = (request.pause, request.pause.target, request.pause.fault)
        let sql = """
            INSERT INTO environmentState
                (app, environment, epoch, pausedSince, cause, detail, host, port, proofs)
            SELECT id, :environment, :epoch, :since, :cause, :detail, :host, :port, :proofs FROM app
            WHERE id = :app AND :epoch = coalesce((
                SELECT epoch FROM environmentState WHERE app = :app AND environment = :environment), 0)
            ON CONFLICT (app, environment) DO UPDATE
            SET pausedSince = excluded.pausedSince, cause = excluded.cause, detail = excluded.detail,
                host = excluded.host, port = excluded.port, proofs = excluded.proofs
            WHERE environmentState.pausedSince IS NULL AND :replaces = 0
                OR environmentState.pausedSince = excluded.pausedSince AND :replaces = 1
            """
        let values: SQLArguments = [
            "app": target.app, "environment": target.environment.code, "epoch": request.epoch,
            "since": pause.since.milliseconds, "cause": fault.cause.rawValue, "detail": fault.detail,
            "host": fault.host, "port": fault.port, "proofs": pause.proofs, "replaces": request.replacesFault,
        ]
        guard try database.run(sql: sql, values) > 0 else { return false }
        try Self.add(request.event, of: target.app, now: now, in: database)
        return true
    }

    /// Begins a new epoch of an environment's credential, so that faults of the earlier credential no longer count.
    static func beginEpoch(app: Int64, environment: PushEnvironment, in database: any SQLConnection) throws {
        let sql = """
            INSERT INTO environmentState (app, environment, epoch) VALUES (?, ?, 1)
            ON CONFLICT (app, environment) DO UPDATE SET epoch = environmentState.epoch + 1
            """
        try database.run(sql: sql, [app, environment.code])
    }

    /// Returns the epoch of an environment's credential, which outlives the credential, or 0 if there never was one.
    static func epoch(app: Int64, environment: PushEnvironment, in database: any SQLConnection) throws -> Int64 {
        let sql = "SELECT epoch FROM environmentState WHERE app = ? AND environment = ?"
        return try database.integer(sql: sql, [app, environment.code]) ?? 0
    }

    fileprivate static func add(_ event: Data?, of app: Int64, now: Timestamp, in database: any SQLConnection) throws {
        if let event { try EventBlockRow.add(.environment, event, app: app, now: now, in: database) }
    }
}

extension EnvironmentPause: StoredRecord {
    static let table = "environmentState"

    init(_ row: StoredRow) throws {
        let cause: ConfigurationFault.Cause = try row.get(raw: "cause")
        self.init(
            AppEnvironment(app: try row.get("app"), environment: try row.get("environment")),
            ConfigurationFault(cause, detail: row["detail"] ?? "", host: row["host"], port: row["port"]),
            since: try row.get("pausedSince"),
            proofs: row["proofs"] ?? 1
        )
    }
}

extension SQLStore {
    package func environmentPauses() async throws -> [EnvironmentPause] {
        let sql = "SELECT * FROM environmentState WHERE pausedSince IS NOT NULL"
        return try await self.database.read { try $0.records(sql: sql) }
    }

    package func credentialEpoch(_ target: AppEnvironment) async throws -> Int64 {
        try await self.database.read {
            try EnvironmentPauseTable.epoch(app: target.app, environment: target.environment, in: $0)
        }
    }

    package func pause(_ request: EnvironmentPauseRequest, now: Timestamp) async throws -> Bool {
        try await self.database.write { try EnvironmentPauseTable.write(request, now: now, in: $0) }
    }

    package func endPause(
        of target: AppEnvironment,
        since: Timestamp?,
        event: Data?,
        now: Timestamp
    ) async throws -> Bool {
        let sql = """
            UPDATE environmentState
            SET pausedSince = NULL, cause = NULL, detail = NULL, host = NULL, port = NULL, proofs = NULL
            WHERE app = ?1 AND environment = ?2 AND pausedSince = coalesce(?3, pausedSince)
            """
        return try await self.database.write { database in
            let values: SQLArguments = [target.app, target.environment.code, since?.milliseconds]
            guard try database.run(sql: sql, values) > 0 else { return false }
            try EnvironmentPauseTable.add(event, of: target.app, now: now, in: database)
            return true
        }
    }

    package func releaseHeld(by target: AppEnvironment, limit: Int) async throws -> Int {
        let (environment, both) = (target.environment.code, HoldingEnvironments.all.code)
        return try await self.database.write { database in
            guard try !EnvironmentPauseTable.areHeld(.one(target.environment), of: target.app, in: database)
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

    // MARK: Health

    package func health(app: Int64, environment: PushEnvironment) async throws -> EnvironmentHealth {
        try await self.database.read { database in
            var health = EnvironmentHealth(
                epoch: try EnvironmentPauseTable.epoch(app: app, environment: environment, in: database)
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
            SELECT id, :environment, :since, :reason FROM app
            WHERE id = :app AND :epoch = coalesce((
                SELECT epoch FROM environmentState WHERE app = :app AND environment = :environment), 0)
            ON CONFLICT (app, environment) DO UPDATE
            SET breakerOpenSince = excluded.breakerOpenSince, breakerReason = excluded.breakerReason
            """
        let values: SQLArguments = [
            "app": app, "environment": environment.code, "since": health.breakerOpenSince?.milliseconds,
            "reason": health.breakerReason, "epoch": health.epoch,
        ]
        try await self.database.run(sql: sql, values)
    }

    package func setProven(app: Int64, environment: PushEnvironment, epoch: Int64, at: Timestamp) async throws {
        let sql = """
            INSERT INTO health (app, environment, provenAt)
            SELECT id, ?2, ?3 FROM app
            WHERE id = ?1 AND ?4 = coalesce((
                SELECT epoch FROM environmentState WHERE app = ?1 AND environment = ?2), 0)
            ON CONFLICT (app, environment) DO UPDATE SET provenAt = coalesce(health.provenAt, excluded.provenAt)
            """
        try await self.database.run(sql: sql, [app, environment.code, at.milliseconds, epoch])
    }
}
