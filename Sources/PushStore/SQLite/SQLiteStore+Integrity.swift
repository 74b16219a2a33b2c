import GRDB

extension SQLiteStore {
    /// What is wrong with the database, in words; empty if all is well. Takes about a second per million deliveries.
    /// - Parameter isAtRest: whether nobody sends and ``recover(now:)`` has been called since somebody did.
    package func checkIntegrity(isAtRest: Bool = false) async throws -> [String] {
        try await self.database.read { database in
            try Integrity.damage(in: database)
                + Integrity.brokenRules(in: database, isAtRest: isAtRest, masterKey: self.masterKey)
        }
    }
}

/// What can be wrong with a database.
enum Integrity {
    static let longestList = 20

    /// What SQLite itself finds.
    static func damage(in database: Database) throws -> [String] {
        do {
            let pages = try String.fetchAll(database, sql: "PRAGMA integrity_check(\(Self.longestList))")
            let orphans = try Row.fetchAll(
                database,
                sql: "SELECT * FROM pragma_foreign_key_check LIMIT \(Self.longestList)"
            )
            return pages.filter { $0 != "ok" }
                + orphans.map { row in
                    let (table, parent): (String?, String?) = (row["table"], row["parent"])
                    return "a row of \(table ?? "?") names one of \(parent ?? "?") that is not there"
                }
        } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_CORRUPT {
            return [error.message ?? "\(error.resultCode)"]
        }
    }

    /// The store's own rules that do not hold. The database must have seen all migrations of this version, and no others.
    /// - Parameters:
    ///   - isAtRest: whether nobody sends; else only what holds at any moment is asked for.
    ///   - masterKey: with which every secret is tried to be opened; `nil` leaves that out.
    static func brokenRules(in database: Database, isAtRest: Bool, masterKey: MasterKey?) throws -> [String] {
        do {
            let rules = IntegrityRule.always + (isAtRest ? IntegrityRule.atRest : [])
            return try rules.flatMap { try $0.faults(in: database) }
                + DamagedRows(database: database, masterKey: masterKey).faults()
        } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_CORRUPT {
            return ["the store's rules cannot be examined: \(error.message ?? "\(error.resultCode)")"]
        }
    }
}

/// Something that must hold, besides what SQLite itself watches over.
private struct IntegrityRule: Sendable {
    /// What is wrong where it does not.
    let fault: String
    /// Selects the numbers of the notifications where it does not.
    let sql: String

    func faults(in database: Database) throws -> [String] {
        try Int64.fetchAll(database, sql: "\(self.sql) LIMIT 5").map { "notification \($0): \(self.fault)" }
    }

    /// After every transaction, whatever is under way.
    static let always = [
        // A page that was in flight when its notification was cancelled is still being sent.
        IntegrityRule(
            fault: "it has ended and something of it is still to be sent",
            sql: """
                SELECT number FROM notification WHERE state IN ('done', 'cancelled') AND (
                    EXISTS (
                        SELECT 1 FROM shard WHERE shard.notification = notification.number
                            AND (shard.lease IS NULL OR state = 'done'))
                    OR state = 'done' AND EXISTS (
                        SELECT 1 FROM retry WHERE retry.notification = notification.number)
                    OR state = 'done' AND EXISTS (
                        SELECT 1 FROM delivery
                        WHERE delivery.notification = notification.number AND delivery.state = 0))
                """
        ),
        IntegrityRule(
            fault: "nothing of it is left to be sent and it has not ended",
            sql: """
                SELECT number FROM notification WHERE state IN ('accepted', 'sending')
                    AND NOT EXISTS (
                        SELECT 1 FROM shard WHERE shard.notification = notification.number AND isDone = 0)
                    AND NOT EXISTS (SELECT 1 FROM retry WHERE retry.notification = notification.number)
                    AND NOT EXISTS (
                        SELECT 1 FROM delivery
                        WHERE delivery.notification = notification.number AND delivery.state = 0)
                """
        ),
        IntegrityRule(
            fault: "its counters are not what its deliveries add up to",
            sql: """
                SELECT notification.number FROM notification LEFT JOIN (
                    SELECT notification, sum(state = 1) AS taken, sum(state = 2) AS refused, sum(state = 3) AS lost,
                        sum(state = 4) AS passed
                    FROM delivery GROUP BY notification) AS ledger ON ledger.notification = notification.number
                LEFT JOIN (
                    SELECT notification, sum(accepted) AS accepted, sum(rejected) AS rejected, sum(failed) AS failed,
                        sum(skipped) AS skipped
                    FROM shard GROUP BY notification) AS walked ON walked.notification = notification.number
                WHERE isForgotten = 0 AND (
                    notification.accepted + coalesce(walked.accepted, 0) != coalesce(taken, 0)
                    OR notification.rejected + coalesce(walked.rejected, 0) != coalesce(refused, 0)
                    OR notification.failed + coalesce(walked.failed, 0) != coalesce(lost, 0)
                    OR notification.skipped + coalesce(walked.skipped, 0) != coalesce(passed, 0)
                    OR state = 'done' AND recipients != coalesce(taken, 0) + coalesce(refused, 0) + coalesce(lost, 0)
                        + coalesce(passed, 0))
                """
        ),
        IntegrityRule(
            fault: "a recipient has a final state and waits for another try",
            sql: """
                SELECT DISTINCT retry.notification FROM retry JOIN delivery
                    ON delivery.notification = retry.notification AND delivery.recipient = retry.recipient
                WHERE state != 0
                """
        ),
        IntegrityRule(
            fault: "it is gone and its deliveries are not",
            sql: """
                SELECT notification FROM (SELECT DISTINCT notification FROM delivery)
                WHERE notification NOT IN (SELECT number FROM notification)
                """
        ),
    ]

    /// While nobody sends.
    static let atRest = [
        IntegrityRule(
            fault: "a recipient is being sent to by nobody",
            sql: """
                SELECT DISTINCT notification FROM delivery WHERE state = 0 AND NOT EXISTS (
                    SELECT 1 FROM retry
                    WHERE retry.notification = delivery.notification AND retry.recipient = delivery.recipient)
                """
        ),
        IntegrityRule(
            fault: "a shard is leased to nobody",
            sql: "SELECT DISTINCT notification FROM shard WHERE lease IS NOT NULL"
        ),
        IntegrityRule(
            fault: "a retry is leased to nobody",
            sql: "SELECT DISTINCT notification FROM retry WHERE lease IS NOT NULL"
        ),
    ]
}
