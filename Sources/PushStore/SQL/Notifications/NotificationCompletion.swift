import Foundation
import ProviderModel
import PushTypes

/// Finishes notifications of which nothing remains to be sent.
enum NotificationCompletion {
    /// Finishes a notification if all its shards have been read and every recipient has a final state. This includes a
    /// paused notification whose last pages were in flight when it was paused.
    static func finishIfComplete(_ number: Int64, now: Timestamp, in database: any SQLConnection) throws {
        try Self.releaseHeld(number, in: database)
        let end = """
            UPDATE notification SET state = 'done', finishedAt = ?, pauseReason = NULL
            WHERE number = ? AND (state IN ('accepted', 'sending') OR state = 'paused' AND startedAt IS NOT NULL)
                AND NOT EXISTS (SELECT 1 FROM shard WHERE shard.notification = notification.number AND isDone = 0)
                AND NOT EXISTS (SELECT 1 FROM retry WHERE retry.notification = notification.number)
                AND NOT EXISTS (
                    SELECT 1 FROM delivery WHERE delivery.notification = notification.number AND delivery.state = 0)
            """
        guard try database.run(sql: end, now.milliseconds, number) > 0 else { return }
        try Self.tidy(number, in: database)
        let total = """
            UPDATE notification SET recipients = accepted + rejected + failed + skipped + unknown
            WHERE number = ? RETURNING app
            """
        guard let app = try database.integer(sql: total, [number]) else { return }
        _ = try RegistrationChanges.forget(app: app, limit: Self.forgottenAtOnce, in: database)
    }

    /// The maximum number of changed or removed devices whose records are deleted when a notification that needed them
    /// finishes. Retention deletes the others.
    static let forgottenAtOnce = 500

    /// Makes recipients due that waited until all shards were read. Recipients whose devices were removed then wait for
    /// all other recipients, because their devices may return.
    private static func releaseHeld(_ number: Int64, in database: any SQLConnection) throws {
        let sql = """
            UPDATE retry SET dueAt = CASE WHEN EXISTS (SELECT 1 FROM device WHERE id = retry.recipient AND hasLeft = 1)
                THEN \(RetryQueue.afterOthers) ELSE 0 END
            WHERE notification = ?1 AND dueAt = \(RetryQueue.afterShards)
                AND NOT EXISTS (SELECT 1 FROM shard WHERE shard.notification = ?1 AND isDone = 0)
            """
        try database.run(sql: sql, number)
        try Self.releaseDeparted(number, in: database)
    }

    /// Makes recipients with removed devices due, once all other recipients have their final states.
    private static func releaseDeparted(_ number: Int64, in database: any SQLConnection) throws {
        guard try !Self.hasPresentRecipients(number, in: database) else { return }
        let (departed, others) = (RetryQueue.departed, RetryQueue.afterOthers)
        let sql = "UPDATE retry SET dueAt = \(departed) WHERE notification = ? AND dueAt = \(others)"
        try database.run(sql: sql, number)
    }

    /// Returns whether a recipient without a final state has a device that was not removed.
    static func hasPresentRecipients(_ number: Int64, in database: any SQLConnection) throws -> Bool {
        let sql = """
            SELECT 1 WHERE EXISTS (SELECT 1 FROM shard WHERE notification = ?1 AND isDone = 0)
                OR EXISTS (SELECT 1 FROM retry WHERE notification = ?1 AND dueAt < \(RetryQueue.departed))
                OR EXISTS (
                    SELECT 1 FROM retry
                    WHERE notification = ?1 AND dueAt > \(RetryQueue.departed) AND dueAt < \(RetryQueue.afterOthers))
            """
        return try database.hasRow(sql: sql, number)
    }

    /// Adds the shards' counters to the notification, and deletes rows that only a notification in progress needs. A
    /// shard with a page in flight stays until that page is committed.
    static func tidy(_ number: Int64, in database: any SQLConnection) throws {
        // A shard may be claimed without a lock on its notification.
        try database.lock(.exclusive, "shard", where: "notification = ?", [number])
        let sql = """
            UPDATE notification SET
                accepted = notification.accepted + counted.accepted,
                rejected = notification.rejected + counted.rejected,
                failed = notification.failed + counted.failed,
                skipped = notification.skipped + counted.skipped,
                unknown = notification.unknown + counted.unknown,
                lastPageAt = nullif(max(coalesce(notification.lastPageAt, 0), counted.at), 0)
            FROM (
                SELECT sum(accepted) AS accepted, sum(rejected) AS rejected, sum(failed) AS failed,
                    sum(skipped) AS skipped, sum(unknown) AS unknown, coalesce(max(lastPageAt), 0) AS at
                FROM shard WHERE notification = ?1 AND lease IS NULL HAVING count(*) > 0) AS counted
            WHERE number = ?1
            """
        try database.run(sql: sql, number)
        try database.run(sql: "DELETE FROM shard WHERE notification = ? AND lease IS NULL", number)
        try database.run(sql: "DELETE FROM badgeStep WHERE notification = ?", number)
        try database.run(sql: "DELETE FROM tokenHad WHERE notification = ?", number)
    }
}

/// Counts the skipped recipients of a page by reason.
///
/// The counts are stored separately, so that they can be shown without reading the states of all recipients.
struct SkipTally {
    private var counts: [BytewiseString: Int64] = [:]

    mutating func add(_ delivery: DeliveryResult) {
        guard delivery.state == .skipped, let reason = delivery.reason else { return }
        self.counts[BytewiseString(reason), default: 0] += 1
    }

    /// Returns the counts of a notification's skipped recipients by reason, highest first.
    static func counts(of notification: UUID, in database: any SQLConnection) throws -> [SkipCount] {
        let sql = """
            SELECT text, count FROM skipCount JOIN reason ON reason.id = skipCount.reason
            WHERE notification = (SELECT number FROM notification WHERE id = ?) ORDER BY count DESC, text
            """
        return try database.rows(sql: sql, [notification.uuidString]).compactMap { row in
            (row["text"] as String?).map { SkipCount(reason: $0, count: row["count"] ?? 0) }
        }
    }

    func write(_ notification: Int64, _ reasons: ReasonLookup, in database: any SQLConnection) throws {
        for (reason, count) in self.counts {
            let sql = """
                INSERT INTO skipCount (notification, reason, count) VALUES (?, ?, ?)
                ON CONFLICT (notification, reason) DO UPDATE SET count = skipCount.count + excluded.count
                """
            let id = try reasons.id(of: DeliveryReason(reason.text), in: database)
            try database.run(sql: sql, notification, id, count)
        }
    }
}
