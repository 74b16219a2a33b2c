import GRDB
package import PushTypes

extension SQLiteStore {
    package func checkWritable() async throws {
        try await self.database.write { database in
            let id = try database.insert(into: "audit", ["at": 0, "keyName": "", "action": "check", "status": 0])
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

    package func statistics(now: Timestamp) async throws -> StoreStatistics {
        try await self.database.lookup { database in
            func count(_ rows: String) throws -> Int { try database.count(sql: "SELECT count(*) FROM \(rows)") }
            var statistics = StoreStatistics()
            let sql = "SELECT state, count(*) AS count FROM notification WHERE finishedAt IS NULL GROUP BY state"
            let states = try database.rows(sql: sql)
            for row in states {
                // A row that cannot be read does not prevent the others from being counted.
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
                    AND \(AppStops.isNone)
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
}
