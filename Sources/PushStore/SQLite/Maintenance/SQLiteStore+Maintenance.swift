import GRDB
package import PushTypes

extension SQLiteStore {
    package func setName(_ name: String?, app: Int64) async throws {
        try await self.database.execute("UPDATE app SET name = ? WHERE id = ?", [name, app])
    }

    package func checkWritable() async throws {
        try await self.database.write { database in
            try database.execute(
                sql: "INSERT INTO audit (at, keyName, action, status) VALUES (0, '', 'check', 0)"
            )
            try database.execute(sql: "DELETE FROM audit WHERE id = ?", arguments: [database.lastInsertedRowID])
        }
    }

    package func pauseEverything(reason: String) async throws -> (notifications: Int, schedules: Int) {
        try await self.database.write { database in
            try database.execute(
                sql: """
                    UPDATE notification SET state = 'paused', pauseReason = ?
                    WHERE finishedAt IS NULL AND state IN ('scheduled', 'accepted', 'sending')
                    """,
                arguments: [reason]
            )
            let notifications = database.changesCount
            try database.execute(sql: "UPDATE schedule SET isPaused = 1, version = version + 1 WHERE isPaused = 0")
            return (notifications, database.changesCount)
        }
    }

    package func statistics(now: Timestamp) async throws -> StoreStatistics {
        try await self.database.lookup { database in
            func count(_ sql: String, _ arguments: StatementArguments = []) throws -> Int {
                try Int.fetchOne(database, sql: sql, arguments: arguments) ?? 0
            }
            var statistics = StoreStatistics()
            let states = try Row.fetchAll(
                database,
                sql: "SELECT state, count(*) AS count FROM notification WHERE finishedAt IS NULL GROUP BY state"
            )
            for row in states {
                // A row that cannot be read does not prevent the others from being counted.
                guard let state = (row["state"] as String?).flatMap(NotificationRecord.State.init(rawValue:)) else {
                    continue
                }
                statistics.notifications[state] = row["count"]
            }
            statistics.retries = try count("SELECT count(*) FROM retry")
            statistics.oldestRetryDueAt = try Int64.fetchOne(
                database,
                sql: "SELECT min(dueAt) FROM retry WHERE dueAt > 1 AND dueAt < \(RetryQueue.afterOthers)"
            )
            .map(Timestamp.init(milliseconds:))
            statistics.shardsLeased = try count(
                "SELECT count(*) FROM shard WHERE isDone = 0 AND lease IS NOT NULL"
            )
            statistics.shardsWaiting =
                try count("SELECT count(*) FROM shard WHERE isDone = 0") - statistics.shardsLeased
            statistics.tokensDeactivated = try count("SELECT count(*) FROM tokenEvent WHERE action = 'deactivated'")
            statistics.tokensWithheld = try count("SELECT count(*) FROM tokenEvent WHERE action = 'withheld'")
            statistics.webhookBacklog = try count(
                """
                SELECT max((
                    SELECT count(*) FROM eventBlock
                    WHERE app = webhook.app AND (position IS NULL OR position > webhook.cursor)))
                FROM webhook WHERE isActive = 1
                """
            )
            return statistics
        }
    }
}
