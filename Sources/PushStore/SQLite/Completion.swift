import GRDB
import PushProtocol

/// The end of a notification.
enum Completion {
    static let cancelled = "cancelled before it could be sent"

    /// Done once its shards are walked and no recipient is without a final state.
    static func finishIfComplete(_ number: Int64, now: Timestamp, in database: Database) throws {
        let statement = try RawStatement(
            """
            UPDATE notification SET state = 'done', finishedAt = ?1
            WHERE number = ?2 AND state IN ('accepted', 'sending')
                AND NOT EXISTS (SELECT 1 FROM shard WHERE shard.notification = ?2 AND isDone = 0)
                AND NOT EXISTS (SELECT 1 FROM retry WHERE retry.notification = ?2)
                AND NOT EXISTS (SELECT 1 FROM delivery WHERE delivery.notification = ?2 AND delivery.state = 0)
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

    /// Whoever waits for another try has failed.
    static func failRetries(of number: Int64, now: Timestamp, in database: Database) throws {
        try database.execute(sql: "INSERT OR IGNORE INTO reason (text) VALUES (?)", arguments: [Self.cancelled])
        try database.execute(
            sql: """
                INSERT OR IGNORE INTO delivery (notification, recipient, state, attempts, at, reason, device)
                SELECT notification, recipient, 3, attempts, ?1, (SELECT id FROM reason WHERE text = ?2),
                    CASE WHEN lane = 0 AND recipient > 0 THEN recipient END
                FROM retry WHERE notification = ?3
                """,
            arguments: [now.milliseconds, Self.cancelled, number]
        )
        try database.execute(
            sql: "UPDATE notification SET failed = failed + ? WHERE number = ?",
            arguments: [database.changesCount, number]
        )
        try database.execute(sql: "DELETE FROM retry WHERE notification = ?", arguments: [number])
    }
}
