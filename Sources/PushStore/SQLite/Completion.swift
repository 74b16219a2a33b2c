import GRDB
import PushTypes

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
        let total = try database.cachedStatement(
            sql: """
                UPDATE notification SET recipients = accepted + rejected + failed + skipped WHERE number = ?
                RETURNING app
                """
        )
        guard let app = try Int64.fetchOne(total, arguments: [number]) else { return }
        _ = try RegistrationChanges.forget(app: app, limit: Self.forgottenAtOnce, in: database)
    }

    /// Registrations that are forgotten with the notification that needed them; the rest goes with what is old.
    private static let forgottenAtOnce = 500

    /// Makes recipients that wait for the end of the walk due, by any clock, once all shards have been walked; those whose
    /// devices have left once there are no others, as they may come back meanwhile.
    private static func releaseHeld(_ number: Int64, in database: Database) throws {
        let statement = try RawStatement(
            """
            UPDATE retry SET dueAt = CASE WHEN EXISTS (SELECT 1 FROM device WHERE id = retry.recipient AND hasLeft = 1)
                THEN \(RetryQueue.endOfOthers) ELSE 0 END
            WHERE notification = ?1 AND dueAt = \(RetryQueue.endOfWalk)
                AND NOT EXISTS (SELECT 1 FROM shard WHERE shard.notification = ?1 AND isDone = 0)
            """,
            in: database
        )
        statement.bind(number, at: 1)
        try statement.run()
        try Self.releaseDeparted(number, in: database)
    }

    /// Makes recipients whose devices have left due, once there are no others.
    static func releaseDeparted(_ number: Int64, in database: Database) throws {
        guard try !Self.hasPresentRecipients(number, in: database) else { return }
        let statement = try RawStatement(
            """
            UPDATE retry SET dueAt = \(RetryQueue.departed)
            WHERE notification = ? AND dueAt = \(RetryQueue.endOfOthers)
            """,
            in: database
        )
        statement.bind(number, at: 1)
        try statement.run()
    }

    /// Tells whether recipients have no final state besides those whose devices are known to have left.
    static func hasPresentRecipients(_ number: Int64, in database: Database) throws -> Bool {
        let statement = try RawStatement(
            """
            SELECT 1 WHERE EXISTS (SELECT 1 FROM shard WHERE notification = ?1 AND isDone = 0)
                OR EXISTS (SELECT 1 FROM retry WHERE notification = ?1 AND dueAt < \(RetryQueue.departed))
                OR EXISTS (
                    SELECT 1 FROM retry
                    WHERE notification = ?1 AND dueAt > \(RetryQueue.departed) AND dueAt < \(RetryQueue.endOfOthers))
            """,
            in: database
        )
        defer { statement.reset() }
        statement.bind(number, at: 1)
        return try statement.step()
    }

    /// Removes what only a notification in flight needs. A shard whose page is in flight stays until that is written.
    static func tidy(_ number: Int64, in database: Database) throws {
        let fold = try database.cachedStatement(
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
                """
        )
        try fold.execute(arguments: [number])
        for sql in [
            "DELETE FROM shard WHERE notification = ? AND lease IS NULL",
            "DELETE FROM badgeStep WHERE notification = ?",
            "DELETE FROM tokenHad WHERE notification = ?",
        ] {
            try database.cachedStatement(sql: sql).execute(arguments: [number])
        }
    }
}
