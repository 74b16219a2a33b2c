import ProviderModel
package import PushSupport
package import PushTypes

extension SQLStore {
    package func checkWritable() async throws {
        try await self.database.write { database in
            let values: ColumnValues = ["at": 0, "keyName": "", "action": "check", "status": 0]
            let id = try database.insert(into: "audit", values, returning: "id")
            try database.run(sql: "DELETE FROM audit WHERE id = ?", id)
        }
    }

    package func pauseEverything(reason: String) async throws -> (notifications: Int, schedules: Int) {
        try await self.database.write { database in
            let sql = """
                UPDATE notification SET state = 'paused', pauseReason = ?
                WHERE finishedAt IS NULL AND state IN ('scheduled', 'accepted', 'sending')
                """
            let schedules = "UPDATE schedule SET isPaused = 1, version = version + 1 WHERE isPaused = 0"
            return (try database.run(sql: sql, [reason]), try database.run(sql: schedules))
        }
    }

    package func statistics(now: Timestamp) async throws -> StoreBacklog {
        try await self.database.lookup { database in
            func count(_ rows: String) throws -> Int { try database.count(sql: "SELECT count(*) FROM \(rows)") }
            var statistics = StoreBacklog()
            let sql = "SELECT state, count(*) AS count FROM notification WHERE finishedAt IS NULL GROUP BY state"
            let states = try database.rows(sql: sql)
            for row in states {
                // A row with an unknown state is not counted.
                guard let state = row.value("state") as NotificationRecord.State? else { continue }
                statistics.notifications[state] = row["count"]
            }
            statistics.retries = try count("retry")
            let oldest = "SELECT min(dueAt) FROM retry WHERE dueAt > 1 AND dueAt < \(RetryQueue.afterOthers)"
            statistics.oldestRetryDueAt = try database.time(sql: oldest)
            statistics.shardsLeased = try count("shard WHERE isDone = 0 AND lease IS NOT NULL")
            statistics.shardsWaiting = try count("shard WHERE isDone = 0") - statistics.shardsLeased
            let due = """
                SELECT count(*) FROM shard JOIN notification ON notification.number = shard.notification
                WHERE isDone = 0 AND notBefore <= ?1 AND nextPageAt <= ?1 AND state IN ('accepted', 'sending')
                    AND \(AppRows.isNotStopped)
                """
            statistics.shardsDue = try database.count(sql: due, [now.milliseconds])
            let breakers = """
                SELECT bundleID, environment FROM health JOIN app ON app.id = health.app
                WHERE breakerOpenSince IS NOT NULL ORDER BY bundleID, environment
                """
            statistics.openBreakers = try database.rows(sql: breakers).compactMap { row in
                guard let bundleID = row.topic("bundleID"), let environment = row.environment("environment")
                else { return nil }
                return OpenBreaker(bundleID: bundleID, environment: environment)
            }
            statistics.tokensDeactivated = try count("tokenEvent WHERE action = 'deactivated'")
            statistics.tokensWithheld = try count("tokenEvent WHERE action = 'withheld'")
            let backlog = """
                SELECT max((
                    SELECT count(*) FROM eventBlock
                    WHERE app = webhook.app AND (position IS NULL OR position > webhook.cursor)))
                FROM webhook WHERE isActive = 1
                """
            statistics.webhookBacklog = try database.count(sql: backlog)
            let oldestBlock = """
                SELECT min((
                    SELECT min(at) FROM eventBlock
                    WHERE app = webhook.app AND (position IS NULL OR position > webhook.cursor)))
                FROM webhook WHERE isActive = 1
                """
            statistics.oldestWebhookBlockAt = try database.time(sql: oldestBlock)
            return statistics
        }
    }

    // MARK: The clock

    package func clockMark() async throws -> ClockMark? {
        try await self.database.read { database in
            guard let row = try database.row(sql: "SELECT * FROM clock"), let steady = row.time("steady")
            else { return nil }
            let agreed = Duration.milliseconds((row["agreed"] as Int64?) ?? 0)
            return ClockMark(steady: steady, claim: row.time("claim"), agreed: agreed)
        }
    }

    package func setClockMark(_ mark: ClockMark) async throws {
        let agreed = mark.agreed.components.seconds.multipliedReportingOverflow(by: 1000)
        try await self.database.write { database in
            try database.replace(
                in: "clock",
                key: ["id": 1],
                [
                    "steady": mark.steady.milliseconds, "claim": mark.claim?.milliseconds,
                    "agreed": agreed.overflow ? 0 : agreed.partialValue,
                ]
            )
        }
    }

    package func settleWaiting(at clocks: ClockReading) async throws {
        let lastHour = clocks.steady.advanced(by: MaximumDelay.hours).milliseconds
        let soon = clocks.steady.advanced(by: MaximumDelay.backoff).milliseconds
        let lastZone = clocks.wall.advanced(by: MaximumDelay.zone).milliseconds
        let shards = "UPDATE shard SET notBefore = ?1 WHERE lane IN (0, 1) AND isDone = 0 AND notBefore > ?1"
        let retries = """
            UPDATE retry SET dueAt = ? WHERE lane IN (0, 1) AND dueAt > ? AND dueAt < ? AND lease IS NULL
            """
        // If a wave finishes only after the shortened delay, the pace is checked again then.
        let notifications = """
            UPDATE notification SET nextPageAt = ?1
            WHERE state IN ('accepted', 'sending', 'paused') AND finishedAt IS NULL AND nextPageAt > ?1
            """
        try await self.database.write { database in
            try database.run(sql: shards, lastZone)
            try database.run(sql: retries, soon, lastHour, RetryQueue.afterOthers)
            try database.run(sql: notifications, soon)
        }
    }

    // MARK: Campaigns

    package func campaigns(after newest: Int64?, and open: [Int64], limit: Int) async throws -> CampaignReading {
        try await self.database.read { database in
            let columns = "SELECT number, id, app, state, startedAt FROM notification"
            guard let newest else {
                let sql = "\(columns) WHERE finishedAt IS NULL AND lane = 1 ORDER BY number DESC LIMIT ?"
                let last = try database.integer(sql: "SELECT max(number) FROM notification") ?? 0
                return CampaignReading(try database.rows(sql: sql, [limit]).compactMap(Self.campaign), newest: last)
            }
            // The rows are scanned by number, because the index of campaigns contains even the oldest ones.
            let sql = "\(columns) NOT INDEXED WHERE number > ? AND lane = 1 ORDER BY number LIMIT ?"
            let new = try database.rows(sql: sql, [newest, limit])
            let last = try database.integer(sql: "SELECT max(number) FROM notification") ?? newest
            let known = try open.compactMap { try database.row(sql: "\(columns) WHERE number = ?", [$0]) }
            return CampaignReading(
                (known + new).compactMap(Self.campaign),
                newest: new.count < limit ? max(newest, last) : (new.last?["number"] as Int64?) ?? newest
            )
        }
    }

    private static func campaign(_ row: SQLRow) -> CampaignState? {
        guard let number = row["number"] as Int64?, let id = row.uuid("id"), let app = row["app"] as Int64?,
            let state = row.value("state") as NotificationRecord.State?
        else { return nil }
        let hasStarted = row["startedAt"] as Int64? != nil
        return CampaignState(number: number, id: id, app: app, state: state, hasStarted: hasStarted)
    }
}
