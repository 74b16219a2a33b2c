import GRDB
import PushProtocol

/// The end of a notification.
enum Completion {
    /// Done once its shards are walked and no recipient is without a final state.
    static func finishIfComplete(_ number: Int64, now: Timestamp, in database: Database) throws {
        let statement = try RawStatement(
            """
            UPDATE notification SET state = 'done', finishedAt = ?
            WHERE number = ? AND state IN ('accepted', 'sending')
                AND NOT EXISTS (SELECT 1 FROM shard WHERE shard.notification = notification.number AND isDone = 0)
                AND NOT EXISTS (SELECT 1 FROM retry WHERE retry.notification = notification.number)
                AND NOT EXISTS (
                    SELECT 1 FROM delivery WHERE delivery.notification = notification.number AND delivery.state = 0)
            """,
            in: database
        )
        statement.bind(now.milliseconds, at: 1)
        statement.bind(number, at: 2)
        if try statement.run() > 0 { try Self.tidy(number, in: database) }
    }

    /// Removes what only a notification under way needs.
    static func tidy(_ number: Int64, in database: Database) throws {
        try database.execute(sql: "DELETE FROM shard WHERE notification = ?", arguments: [number])
        try database.execute(sql: "DELETE FROM badgeStep WHERE notification = ?", arguments: [number])
    }
}
