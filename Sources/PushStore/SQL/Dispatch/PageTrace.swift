import PushTypes

/// Records a page for timelines: its times, its connections, and each attempt that is followed by another one.
struct PageTrace {
    private let number: Int64
    private let page: PageResult
    private let now: Timestamp
    private let database: any SQLConnection
    /// The ids under which the page's connections are stored, in the order of ``PageResult/connections``.
    private let connections: [Int64]

    init(
        _ page: PageResult,
        number: Int64,
        now: Timestamp,
        connections: ConnectionLookup,
        in database: any SQLConnection
    ) throws {
        (self.page, self.number, self.now, self.database) = (page, number, now, database)
        self.connections = try page.connections.map { try connections.id(of: $0, in: database) }
    }

    /// Returns the integer that encodes a push's connection and duration in the ledger, or `nil` if `trip` is `nil`.
    func trip(_ trip: PushTrip?) -> Int64? {
        guard let trip else { return nil }
        let index = Int(trip.connection)
        let connection = self.connections.indices.contains(index) ? self.connections[index] : 0
        return StoredTrip.number(connection: connection, milliseconds: trip.milliseconds)
    }

    private enum PageColumn: Int, CodingKey, CaseIterable {
        case notification, answeredAt, first, last, recipients, claimedAt, sentAt, committedAt, isRetry, block
    }

    private static let insertion = PageColumn.insertion(into: "page", "ON CONFLICT DO NOTHING")

    /// Writes the times of the page and its recipients, unless it has no times or no recipients.
    /// - Parameters:
    ///   - recipients: The ids of the recipients sent to, and of those whose final state was written without a push.
    ///   - block: The id of the block with the page's webhook events, or `nil` if it has none.
    func write(_ recipients: [Int64], block: Int64?) throws {
        guard let times = self.page.times, let first = recipients.min(), let last = recipients.max() else { return }
        let row = try RowInsertion<PageColumn>(Self.insertion, in: self.database)
        row.bind(self.number, to: .notification)
        row.bind(times.answeredAt.milliseconds, to: .answeredAt)
        row.bind(first, to: .first)
        row.bind(last, to: .last)
        row.bind(Int64(recipients.count), to: .recipients)
        row.bind(times.claimedAt?.milliseconds, to: .claimedAt)
        row.bind(times.sentAt.milliseconds, to: .sentAt)
        row.bind(self.now.milliseconds, to: .committedAt)
        row.bind(self.page.step == nil ? 1 : 0, to: .isRetry)
        row.bind(block, to: .block)
        try row.run()
    }

    private enum AttemptColumn: Int, CodingKey, CaseIterable {
        case notification, recipient, number, firstAt, at, times, reason, trip
    }

    private static let attemptInsertion = AttemptColumn.insertion(
        into: "attempt",
        """
        ON CONFLICT (notification, recipient, number) DO UPDATE
        SET at = excluded.at, times = attempt.times + 1, reason = excluded.reason, trip = excluded.trip
        """
    )

    func write(_ retry: RetryResult, _ reasons: ReasonLookup) throws {
        guard let attempt = retry.attempt, let times = self.page.times else { return }
        let reason = try reasons.id(of: DeliveryReason(attempt.reason), in: self.database)
        let row = try RowInsertion<AttemptColumn>(Self.attemptInsertion, in: self.database)
        row.bind(self.number, to: .notification)
        row.bind(retry.recipient, to: .recipient)
        row.bind(Int64(retry.attempts) * 2 + (attempt.wasSent ? 0 : 1), to: .number)
        row.bind(times.answeredAt.milliseconds, to: .firstAt)
        row.bind(times.answeredAt.milliseconds, to: .at)
        row.bind(1, to: .times)
        row.bind(reason, to: .reason)
        row.bind(self.trip(attempt.trip), to: .trip)
        try row.run()
    }
}
