import GRDB
package import PushTypes

extension SQLiteStore {
    package func setName(_ name: String?, app: Int64) async throws {
        try await self.database.write { database in
            try database.execute(sql: "UPDATE app SET name = ? WHERE id = ?", arguments: [name, app])
        }
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

    package func figures(now: Timestamp) async throws -> StoreStatistics {
        try await self.database.lookup { database in
            func count(_ sql: String, _ arguments: StatementArguments = []) throws -> Int {
                try Int.fetchOne(database, sql: sql, arguments: arguments) ?? 0
            }
            var figures = StoreStatistics()
            let states = try Row.fetchAll(
                database,
                sql: "SELECT state, count(*) AS count FROM notification WHERE finishedAt IS NULL GROUP BY state"
            )
            for row in states {
                // One that cannot be read is no reason to have no figures.
                guard let state = (row["state"] as String?).flatMap(NotificationRecord.State.init(rawValue:)) else {
                    continue
                }
                figures.notifications[state] = row["count"]
            }
            figures.retries = try count("SELECT count(*) FROM retry")
            figures.oldestRetryDueAt = try Int64.fetchOne(
                database,
                sql: "SELECT min(dueAt) FROM retry WHERE dueAt > 1 AND dueAt < \(RetryQueue.endOfOthers)"
            )
            .map(Timestamp.init(milliseconds:))
            figures.shardsLeased = try count(
                "SELECT count(*) FROM shard WHERE isDone = 0 AND lease IS NOT NULL"
            )
            figures.shardsWaiting = try count("SELECT count(*) FROM shard WHERE isDone = 0") - figures.shardsLeased
            figures.tokensDeactivated = try count("SELECT count(*) FROM tokenEvent WHERE action = 'deactivated'")
            figures.tokensWithheld = try count("SELECT count(*) FROM tokenEvent WHERE action = 'withheld'")
            figures.webhookBacklog = try count(
                """
                SELECT max((
                    SELECT count(*) FROM eventBlock
                    WHERE app = webhook.app AND (position IS NULL OR position > webhook.cursor)))
                FROM webhook WHERE isActive = 1
                """
            )
            return figures
        }
    }
}
