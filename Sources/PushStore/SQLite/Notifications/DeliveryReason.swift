import Foundation
import GRDB

/// The reason of a delivery, of which a campaign has few.
struct DeliveryReason: SharedRow {
    /// The longest text in characters; a push service may send a longer one.
    private static let maximumLength = 300
    /// The most different texts in the store. A push service has a few dozen; one that invents more fills no disk.
    private static let maximumCount = 10_000
    private static let other = "another reason than the 10,000 that are known"

    private let text: ExactText

    init(_ text: String) { self.text = ExactText(String(text.prefix(Self.maximumLength))) }

    func id(in database: Database) throws -> Int64 {
        func stored(_ text: String) throws -> Int64? {
            try database.integer(sql: "SELECT id FROM reason WHERE text = ?", [text])
        }
        if let id = try stored(self.text.text) { return id }
        let isFull = try database.count(sql: "SELECT max(id) FROM reason") >= Self.maximumCount
        if isFull, let other = try stored(Self.other) { return other }
        return try database.insert(into: "reason", ["text": isFull ? Self.other : self.text.text])
    }
}

typealias ReasonLookup = SharedRowLookup<DeliveryReason>

/// Counts the recipients that one page skips, for each reason.
///
/// The counts are kept beside the ledger: showing a notification must not read the states of all its recipients.
struct SkipCounter {
    private var counts: [ExactText: Int64] = [:]

    mutating func add(_ delivery: DeliveryResult) {
        guard delivery.state == .skipped, let reason = delivery.reason else { return }
        self.counts[ExactText(reason), default: 0] += 1
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
