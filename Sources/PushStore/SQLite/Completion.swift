import GRDB
import PushProtocol

/// The end of a notification.
enum Completion {
    /// Done once its shards are walked and no recipient is without a final state.
    static func finishIfComplete(_ number: Int64, now: Timestamp, in database: Database) throws {
        try Self.releaseHeld(number, in: database)
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
        guard try statement.run() > 0 else { return }
        try Self.tidy(number, in: database)
        try database.execute(
            sql: "UPDATE notification SET recipients = accepted + rejected + failed + skipped WHERE number = ?",
            arguments: [number]
        )
        if let app = try Int64.fetchOne(
            database,
            sql: "SELECT app FROM notification WHERE number = ?",
            arguments: [number]
        ) {
            _ = try DeviceChurn.forget(app: app, limit: Self.forgottenAtOnce, in: database)
        }
    }

    /// Registrations that are forgotten with the notification that needed them; the rest goes with what is old.
    private static let forgottenAtOnce = 500

    /// What waits for the end of the walk is due, by any clock, once all shards have been walked; devices that have left
    /// come after the others, as they may come back meanwhile.
    private static func releaseHeld(_ number: Int64, in database: Database) throws {
        let statement = try RawStatement(
            """
            UPDATE retry SET dueAt = EXISTS (SELECT 1 FROM device WHERE id = retry.recipient AND hasLeft = 1)
            WHERE notification = ?1 AND dueAt = 9223372036854775807
                AND NOT EXISTS (SELECT 1 FROM shard WHERE shard.notification = ?1 AND isDone = 0)
            """,
            in: database
        )
        statement.bind(number, at: 1)
        try statement.run()
    }

    /// Removes what only a notification in flight needs. A shard whose page is in flight stays until that is written.
    static func tidy(_ number: Int64, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE notification SET
                    accepted = notification.accepted + walked.accepted,
                    rejected = notification.rejected + walked.rejected,
                    failed = notification.failed + walked.failed,
                    skipped = notification.skipped + walked.skipped,
                    lastPageAt = nullif(max(coalesce(notification.lastPageAt, 0), walked.at), 0)
                FROM (
                    SELECT sum(accepted) AS accepted, sum(rejected) AS rejected, sum(failed) AS failed,
                        sum(skipped) AS skipped, coalesce(max(lastPageAt), 0) AS at
                    FROM shard WHERE notification = ?1 AND lease IS NULL HAVING count(*) > 0) AS walked
                WHERE number = ?1
                """,
            arguments: [number]
        )
        try database.execute(sql: "DELETE FROM shard WHERE notification = ? AND lease IS NULL", arguments: [number])
        try database.execute(sql: "DELETE FROM badgeStep WHERE notification = ?", arguments: [number])
    }
}
