import GRDB
import PushTypes

/// The trace that a page leaves: its times, its connections, and the tries after which there is another one.
struct PageTrace {
    private let number: Int64
    private let page: PageResult
    private let now: Timestamp
    private let database: Database
    /// The ids of the page's connections, by their index.
    private let connections: [Int64]

    init(
        _ page: PageResult,
        number: Int64,
        now: Timestamp,
        connections: ConnectionLookup,
        in database: Database
    ) throws {
        (self.page, self.number, self.now, self.database) = (page, number, now, database)
        self.connections = try page.connections.map { try connections.id(of: $0, in: database) }
    }

    /// Returns the number in which the ledger has the transmission of a push; `nil` if it is not known.
    func trip(_ trip: PushTrip?) -> Int64? {
        guard let trip else { return nil }
        let index = Int(trip.connection)
        let connection = self.connections.indices.contains(index) ? self.connections[index] : 0
        return StoredTrip.number(connection: connection, milliseconds: trip.milliseconds)
    }

    /// Writes the page.
    /// - Parameters:
    ///   - recipients: Those that it ends.
    ///   - block: The block of its events.
    func write(_ recipients: [Int64], block: Int64?) throws {
        guard let times = self.page.times, let first = recipients.min(), let last = recipients.max() else { return }
        let sql = """
            INSERT INTO page (notification, answeredAt, first, last, recipients, claimedAt, sentAt, committedAt, isRetry, block)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """
        let statement = try RawStatement(sql: sql, in: self.database)
        let (claimedAt, sentAt) = (times.claimedAt?.milliseconds, times.sentAt.milliseconds)
        statement.bind(
            self.number,
            times.answeredAt.milliseconds,
            first,
            last,
            Int64(recipients.count),
            claimedAt,
            sentAt,
            self.now.milliseconds
        )
        statement.bind(self.page.step == nil ? 1 : 0, at: 9)
        statement.bind(block, at: 10)
        try statement.run()
    }

    /// Writes the try that led to another one.
    func write(_ retry: RetryResult, _ reasons: ReasonLookup) throws {
        guard let attempt = retry.attempt, let times = self.page.times else { return }
        let sql = """
            INSERT INTO attempt (notification, recipient, number, firstAt, at, times, reason, trip)
            VALUES (?1, ?2, ?3, ?4, ?4, 1, ?5, ?6)
            ON CONFLICT (notification, recipient, number) DO UPDATE
            SET at = excluded.at, times = times + 1, reason = excluded.reason, trip = excluded.trip
            """
        let number = Int64(retry.attempts) * 2 + (attempt.wasSent ? 0 : 1)
        let reason = try reasons.id(of: attempt.reason, in: self.database)
        let at = times.answeredAt.milliseconds
        try self.database.run(sql: sql, self.number, retry.recipient, number, at, reason, self.trip(attempt.trip))
    }
}
