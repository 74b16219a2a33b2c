package import ProviderModel
package import PushTypes

extension SQLStore {
    package func dueRetries(
        lane: NotificationRecord.Lane,
        now: Timestamp,
        until: Timestamp,
        limit: Int,
        from filter: ClaimFilter
    ) async throws -> [RetryClaim] {
        let owner = try await self.owner.number(self.database)
        let expiry = self.database.isShared ? nil : now
        // Most calls find nothing, and need not wait for the writer.
        let isThereAny = try await self.database.read { database in
            try !Leases.lost(owner: owner, held: filter.held, now: expiry, in: database).isEmpty
                || RetryQueue(lane: lane, now: now, database: database).next(excluding: filter.apps) != nil
        }
        guard isThereAny else { return [] }
        return try await self.database.writeLedger { database in
            try Leases.releaseLost(owner: owner, held: filter.held, now: expiry, in: database)
            // If all due retries of an app are postponed, the next app is tried.
            var excluded = filter.apps
            let queue = RetryQueue(lane: lane, now: now, database: database)
            for _ in 0..<Self.appsAtOnce {
                guard let app = try queue.next(excluding: excluded) else { return [] }
                let due = try queue.due(app: app, limit: limit)
                let byNotification = try Dictionary(grouping: due, by: \.notification).sorted { $0.key < $1.key }
                    .filter { try database.tryLock("notification", where: "number = ?", [$0.key]) }
                let claims = try byNotification.compactMap { number, retries in
                    try queue.claim(retries, of: number, owner: owner, until: until)
                }
                if !claims.isEmpty { return claims }
                excluded.insert(app)
            }
            return []
        }
    }

    /// The maximum number of apps whose due retries are examined in one transaction, until one app has some to claim.
    private static let appsAtOnce = 8
}

extension RetryQueue {
    /// The SQL condition on a notification whose retries may be claimed, for another attempt or for their final states.
    static let mayRetry =
        "(notification.state = 'cancelled' OR notification.state IN ('accepted', 'sending') AND \(AppRows.isNotStopped))"

    /// The minimum delay of a recipient that waits for another recipient, once all shards have been read.
    private static let dependentPause: Duration = .seconds(5)
    /// The maximum delay of a recipient that waits for another recipient.
    private static let longestPause: Duration = .seconds(60)

    /// Claims the due retries of a notification.
    /// - Returns: The claim, or `nil` if all of the retries were postponed.
    fileprivate func claim(_ due: [DueRetry], of number: Int64, owner: Int64, until: Timestamp) throws -> RetryClaim? {
        guard let (notification, openedAfter) = try self.retried(number) else { return nil }
        let fence = try Leases.take(owner: owner, until: until, in: self.database)
        let lease = "UPDATE retry SET lease = ? WHERE notification = ? AND recipient = ? AND lease IS NULL"
        let due = try due.filter { try self.database.run(sql: lease, fence, number, $0.recipient) > 0 }
        let consent = try ConsentColumns(notification, in: self.database)
        let query = RecipientQuery(notification, number: number, openedAfter: openedAfter, consent: consent)
        let readAt = try RegistrationChanges.clock(in: self.database)
        let recipients = try self.recipients(due, query, fence: fence)
        if recipients.isEmpty {
            try Leases.end(fence, in: self.database)
            return nil
        }
        return RetryClaim(
            notification: notification,
            notificationNumber: number,
            recipients: recipients,
            fence: fence,
            readAt: readAt,
            dueSince: due.map(\.dueAt).filter { $0 > Self.departed }.min().map(Timestamp.init(milliseconds:))
        )
    }

    /// Returns the app whose claimable retries have been due the longest, or `nil` if no other app has any.
    fileprivate func next(excluding apps: Set<Int64>) throws -> Int64? {
        let sql = """
            SELECT id FROM (
                SELECT id, (
                    SELECT min(dueAt) FROM retry
                    WHERE retry.lane = ? AND retry.app = app.id AND lease IS NULL) AS first
                FROM app) AS waiting
            WHERE first <= ? ORDER BY first
            """
        let waiting = try self.database.integers(sql: sql, [self.lane.rawValue, self.now.milliseconds])
        let mayClaim = """
            SELECT 1 FROM retry JOIN notification ON notification.number = retry.notification
            WHERE retry.lane = ? AND retry.app = ? AND dueAt <= ? AND lease IS NULL AND \(Self.mayRetry) LIMIT 1
            """
        return try waiting.first { app in
            guard !apps.contains(app) else { return false }
            return try self.database.hasRow(sql: mayClaim, self.lane.rawValue, app, self.now.milliseconds)
        }
    }

    /// Returns a notification and the value of the registration clock at its opening. A notification that cannot be
    /// read is paused, and the result is `nil`.
    private func retried(_ number: Int64) throws -> (NotificationRecord, openedAfter: Int64)? {
        let sql = "SELECT * FROM notification WHERE number = ?"
        guard let row = try self.database.row(sql: sql, [number]) else { return nil }
        return try NotificationRow.readable(row, orElse: { try NotificationRow.setAside([$0], in: self.database) }) {
            (try NotificationRecord(row: $0), $0["openedAfter"] as Int64? ?? 0)
        }
    }

    /// Returns the recipients that are sent to or get their final states now. It postpones recipients that depend on
    /// others without a final state.
    private func recipients(_ due: [DueRetry], _ query: RecipientQuery, fence: Int64) throws -> [RetryRecipient] {
        let isCancelled = query.notification.state == .cancelled
        var departed: [(retry: DueRetry, end: EndedRetry)] = []
        let present: [RetryRecipient] = try due.compactMap { retry in
            switch try query.fetch(retry, fence: fence, isCancelled: isCancelled, in: self.database) {
            case .now(let recipient): return recipient
            case .later(let until):
                let longest = self.now.advanced(by: Self.longestPause)
                let pause = max(self.now.advanced(by: Self.dependentPause), min(until ?? self.now, longest))
                try self.putOff(retry, until: pause.milliseconds)
            case .last(let end): departed.append((retry, end))
            }
            return nil
        }
        return try present + self.ends(of: departed, notification: query.number)
    }

    /// Returns those recipients with removed devices that get their final states now, and postpones the others, for
    /// which other recipients must first have their final states.
    private func ends(
        of departed: [(retry: DueRetry, end: EndedRetry)],
        notification: Int64
    ) throws -> [RetryRecipient] {
        guard !departed.isEmpty else { return [] }
        let mark = "UPDATE retry SET dueAt = \(Self.departed) WHERE notification = ? AND recipient = ?"
        for (retry, _) in departed { try self.database.run(sql: mark, notification, retry.recipient) }
        guard try NotificationCompletion.hasPresentRecipients(notification, in: self.database)
        else { return departed.map { .ended($0.end) } }
        for (retry, _) in departed { try self.putOff(retry, until: Self.afterOthers) }
        return []
    }

    /// Releases a recipient and sets its due time, which may be one of the constants of ``RetryQueue``.
    private func putOff(_ retry: DueRetry, until: Int64) throws {
        let sql = """
            UPDATE retry SET lease = NULL, dueAt = CASE WHEN EXISTS (
                SELECT 1 FROM shard WHERE shard.notification = retry.notification AND isDone = 0)
                THEN \(Self.afterShards) ELSE ? END
            WHERE notification = ? AND recipient = ?
            """
        try self.database.run(sql: sql, until, retry.notification, retry.recipient)
    }

    fileprivate func due(app: Int64, limit: Int) throws -> [DueRetry] {
        let sql = """
            SELECT retry.notification, retry.recipient, retry.environment, retry.attempts, delivery.state, dueAt,
                mayHaveArrived
            FROM retry JOIN notification ON notification.number = retry.notification
            LEFT JOIN delivery ON delivery.notification = retry.notification
                AND delivery.recipient = retry.recipient AND delivery.state = 0
            WHERE retry.lane = ? AND retry.app = ? AND dueAt <= ? AND lease IS NULL AND \(Self.mayRetry)
            ORDER BY dueAt LIMIT ?
            """
        let select = try self.database.prepare(sql)
        defer { select.reset() }
        select.bind(self.lane.rawValue, app, self.now.milliseconds, Int64(limit))
        var due: [DueRetry] = []
        while try select.step() {
            due.append(
                DueRetry(
                    notification: select.integer(0),
                    recipient: select.integer(1),
                    environment: select.isNull(2) ? nil : PushEnvironment(code: select.integer(2)),
                    attempts: Int(clamping: select.integer(3)),
                    isInterrupted: !select.isNull(4),
                    mayHaveArrived: select.integer(6) != 0,
                    dueAt: select.integer(5)
                )
            )
        }
        return due
    }
}

struct DueRetry {
    var notification, recipient: Int64
    var environment: PushEnvironment?
    var attempts: Int
    /// A Boolean value that indicates whether the previous process ended during the push, under `atMostOnce`.
    var isInterrupted: Bool
    /// A Boolean value that indicates whether an earlier push may have arrived (``Recipient/mayHaveArrived``).
    var mayHaveArrived: Bool
    /// The time in milliseconds, by the steady clock, at which the attempt is due.
    var dueAt: Int64
}
