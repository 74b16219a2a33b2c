package import ProviderModel
package import PushTypes

extension SQLStore {
    package func feedbackRun(of target: AppEnvironment) async throws -> FeedbackRun? {
        let sql = "SELECT * FROM feedbackRun WHERE app = ? AND environment = ?"
        return try await self.database.read { database in
            try database.row(sql: sql, [target.app, target.environment.code]).flatMap(Self.feedbackRun)
        }
    }

    package func dueFeedback(at time: Timestamp) async throws -> [AppEnvironment] {
        let sql = """
            SELECT credential.app AS app, credential.environment AS environment FROM credential
            LEFT JOIN feedbackRun AS run ON run.app = credential.app AND run.environment = credential.environment
            WHERE kind != 'key' AND (nextAt IS NULL OR nextAt <= ?)
            ORDER BY nextAt NULLS FIRST
            """
        return try await self.database.read { database in
            try database.rows(sql: sql, [time.milliseconds]).compactMap { row in
                guard let app = row["app"] as Int64?, let environment = row.environment("environment")
                else { return nil }
                return AppEnvironment(app: app, environment: environment)
            }
        }
    }

    package func beginFeedback(
        of target: AppEnvironment,
        due: Timestamp?,
        nextAt: Timestamp,
        now: Timestamp
    ) async throws -> FeedbackStartResult {
        let (app, environment) = (target.app, target.environment.code)
        return try await self.database.write { database in
            let sql = "SELECT nextAt, failures FROM feedbackRun WHERE app = ? AND environment = ?"
            let row = try database.row(sql: sql, [app, environment])
            if let due, let next = row?.time("nextAt"), next > due { return .notDue }
            let beginAnew = """
                ON CONFLICT (app, environment) DO UPDATE
                SET nextAt = excluded.nextAt, startedAt = excluded.startedAt, endedAt = NULL, tokens = 0,
                    deactivated = 0, kept = 0, withheld = 0, unknown = 0
                """
            let values: ColumnValues = [
                "app": app, "environment": environment, "nextAt": nextAt.milliseconds, "startedAt": now.milliseconds,
            ]
            try database.insert(into: "feedbackRun", of: .app, values, beginAnew)
            return .begun(failures: row?["failures"] ?? 0)
        }
    }

    package func endFeedback(of target: AppEnvironment, _ run: FeedbackRun) async throws {
        let sql = """
            UPDATE feedbackRun
            SET nextAt = :nextAt, endedAt = :endedAt, tokens = :tokens, deactivated = :deactivated, kept = :kept,
                withheld = :withheld, unknown = :unknown, failures = :failures, error = :error
            WHERE app = :app AND environment = :environment
            """
        let counts = run.counts
        try await self.database.run(
            sql: sql,
            [
                "nextAt": run.nextAt.milliseconds, "endedAt": run.endedAt?.milliseconds, "tokens": counts.tokens,
                "deactivated": counts.deactivated, "kept": counts.kept, "withheld": counts.withheld,
                "unknown": counts.unknown, "failures": run.failures, "error": run.error, "app": target.app,
                "environment": target.environment.code,
            ]
        )
    }

    package func activeDevices(of target: AppEnvironment, tokens: [DeviceToken]) async throws -> [DeviceRecord] {
        let (app, environment) = (target.app.sqlValue, target.environment.code.sqlValue)
        return try await self.database.read { database in
            try tokens.flatMap { token in
                try DeviceRows(database: database).devices(
                    where: "app = ? AND environment = ? AND token = ? AND isActive = 1 AND hasLeft = 0",
                    [app, environment, token.sqlValue]
                )
            }
        }
    }

    package func apply(_ changes: [TokenStateChange], of target: AppEnvironment, now: Timestamp) async throws {
        guard !changes.isEmpty else { return }
        try await self.database.write { database in
            let events = TokenEventWriter(app: target.app, now: now, in: database)
            let invalidation = TokenInvalidation(events: events, notification: nil)
            for change in changes { try invalidation.apply(change) }
            try events.announce()
        }
    }

    private static func feedbackRun(_ row: SQLRow) -> FeedbackRun? {
        guard let startedAt = row.time("startedAt"), let nextAt = row.time("nextAt") else { return nil }
        var run = FeedbackRun(startedAt: startedAt, nextAt: nextAt)
        run.endedAt = row.time("endedAt")
        run.counts.tokens = row["tokens"] ?? 0
        run.counts.deactivated = row["deactivated"] ?? 0
        run.counts.kept = row["kept"] ?? 0
        run.counts.withheld = row["withheld"] ?? 0
        run.counts.unknown = row["unknown"] ?? 0
        (run.failures, run.error) = (row["failures"] ?? 0, row["error"])
        return run
    }
}
