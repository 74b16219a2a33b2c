/// A consistency rule of the store, besides the constraints that SQLite enforces.
struct IntegrityRule: Sendable {
    /// The description of the fault that a broken rule indicates.
    let fault: String
    /// The kind of row that the rule examines, as it appears in the description of a fault.
    var subject = "notification"
    /// The SQL query that returns the numbers of the rows that break the rule.
    let sql: String

    /// Returns descriptions of the faults in at most five rows.
    func faults(in database: any SQLConnection) throws -> [String] {
        try database.integers(sql: "\(self.sql) LIMIT 5", isKept: false).map { "\(self.subject) \($0): \(self.fault)" }
    }

    /// The rules that hold after every transaction, so that they can be checked while a provider is running.
    static let always = [
        // A page of a cancelled notification may still be in flight.
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
                    SELECT notification, count(*) FILTER (WHERE state = 1) AS accepted,
                        count(*) FILTER (WHERE state = 2) AS rejected, count(*) FILTER (WHERE state = 3) AS failed,
                        count(*) FILTER (WHERE state = 4) AS skipped, count(*) FILTER (WHERE state = 5) AS unknown
                    FROM delivery GROUP BY notification) AS ledger ON ledger.notification = notification.number
                LEFT JOIN (
                    SELECT notification, sum(accepted) AS accepted, sum(rejected) AS rejected, sum(failed) AS failed,
                        sum(skipped) AS skipped, sum(unknown) AS unknown
                    FROM shard GROUP BY notification) AS counted ON counted.notification = notification.number
                WHERE isForgotten = 0 AND (
                    notification.accepted + coalesce(counted.accepted, 0) != coalesce(ledger.accepted, 0)
                    OR notification.rejected + coalesce(counted.rejected, 0) != coalesce(ledger.rejected, 0)
                    OR notification.failed + coalesce(counted.failed, 0) != coalesce(ledger.failed, 0)
                    OR notification.skipped + coalesce(counted.skipped, 0) != coalesce(ledger.skipped, 0)
                    OR notification.unknown + coalesce(counted.unknown, 0) != coalesce(ledger.unknown, 0)
                    OR state = 'done' AND recipients != coalesce(ledger.accepted, 0) + coalesce(ledger.rejected, 0)
                        + coalesce(ledger.failed, 0) + coalesce(ledger.skipped, 0) + coalesce(ledger.unknown, 0))
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
                SELECT notification FROM (SELECT DISTINCT notification FROM delivery) AS ledger
                WHERE notification NOT IN (SELECT number FROM notification)
                """
        ),
        IntegrityRule(
            fault: "the counters of its receipts are not what these add up to",
            sql: """
                WITH ledger AS (
                    SELECT notification, event, '' AS action, count(DISTINCT subject), count(*) FROM receipt
                    GROUP BY notification, event
                    UNION ALL SELECT notification, event, action, count(DISTINCT subject), count(*) FROM receipt
                    WHERE action IS NOT NULL GROUP BY notification, event, action
                ), counted AS (SELECT notification, event, action, uniqueCount, total FROM receiptCount)
                SELECT number FROM notification WHERE isForgotten = 0 AND number IN (
                    SELECT notification FROM (SELECT * FROM ledger EXCEPT SELECT * FROM counted) AS uncounted
                    UNION SELECT notification FROM (SELECT * FROM counted EXCEPT SELECT * FROM ledger) AS miscounted)
                """
        ),
        IntegrityRule(
            fault: "it is gone and its receipts are not",
            sql: """
                SELECT notification FROM (
                    SELECT DISTINCT notification FROM receipt UNION SELECT DISTINCT notification FROM receiptCount) AS ledger
                WHERE notification NOT IN (SELECT number FROM notification)
                """
        ),
        // The tables of an app are emptied one after the other while the app is being erased.
        IntegrityRule(
            fault: "the counters of its files are not what these add up to",
            subject: "app",
            sql: """
                SELECT app FROM (
                    SELECT app, count(*) AS files, sum(CAST(size AS DOUBLE PRECISION)) AS bytes FROM file GROUP BY app
                    UNION ALL SELECT app, -files, -bytes FROM fileUsage) AS difference
                WHERE app NOT IN (SELECT id FROM app WHERE isErased = 1)
                GROUP BY app HAVING sum(files) != 0 OR sum(bytes) != 0
                """
        ),
    ]

    /// The rules that hold only while no provider is sending.
    static let atRest = [
        IntegrityRule(
            fault: "a recipient is being sent to, and no provider sends",
            sql: """
                SELECT DISTINCT notification FROM delivery WHERE state = 0 AND NOT EXISTS (
                    SELECT 1 FROM retry
                    WHERE retry.notification = delivery.notification AND retry.recipient = delivery.recipient)
                """
        ),
        IntegrityRule(
            fault: "a shard is leased, and no provider sends",
            sql: "SELECT DISTINCT notification FROM shard WHERE lease IS NOT NULL"
        ),
        IntegrityRule(
            fault: "a retry is leased, and no provider sends",
            sql: "SELECT DISTINCT notification FROM retry WHERE lease IS NOT NULL"
        ),
    ]
}
