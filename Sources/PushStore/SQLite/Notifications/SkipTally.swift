import Foundation
import GRDB

/// Counts the recipients that one page skips, for each reason.
///
/// The counts are kept beside the ledger: showing a notification must not read the states of all its recipients.
struct SkipTally {
    private var counts: [BytewiseString: Int64] = [:]

    mutating func add(_ delivery: DeliveryResult) {
        guard delivery.state == .skipped, let reason = delivery.reason else { return }
        self.counts[BytewiseString(reason), default: 0] += 1
    }

    /// Returns the counts of a notification, the highest first.
    static func counts(of notification: UUID, in database: Database) throws -> [SkipCount] {
        let sql = """
            SELECT text, count FROM skipCount JOIN reason ON reason.id = skipCount.reason
            WHERE notification = (SELECT number FROM notification WHERE id = ?) ORDER BY count DESC, text
            """
        return try database.rows(sql: sql, [notification.uuidString]).compactMap { row in
            (row["text"] as String?).map { SkipCount(reason: $0, count: row["count"] ?? 0) }
        }
    }

    /// Adds the counts to those of a notification.
    func write(_ notification: Int64, _ reasons: ReasonLookup, in database: Database) throws {
        for (reason, count) in self.counts {
            let sql = """
                INSERT INTO skipCount (notification, reason, count) VALUES (?, ?, ?)
                ON CONFLICT DO UPDATE SET count = count + excluded.count
                """
            let id = try reasons.id(of: DeliveryReason(reason.text), in: database)
            try database.run(sql: sql, notification, id, count)
        }
    }
}
