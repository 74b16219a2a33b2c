import GRDB
import PushTypes

extension RecipientQuery {
    /// The next step for a recipient of the queue.
    enum NextStep {
        case now(RetryRecipient)
        /// Another recipient may have had the notification for it, and has no final state yet.
        ///
        /// The time is the due time of that one, if it waits for another try.
        case later(until: Timestamp?)
        /// Its device has left, and may come back as long as others have no final state.
        ///
        /// The end is written once there are no others.
        case last(EndedRetry)
    }

    /// Decides about a recipient: another try, with the token that its device has now, or the end of its tries.
    /// - Parameter fence: The fencing number of the lease under which it was claimed.
    func fetch(_ retry: DueRetry, fence: Int64, isCancelled: Bool, in database: Database) throws -> NextStep {
        var (recipient, lack, hasLeft) = try self.current(retry, in: database)
        recipient?.attempts = retry.attempts
        recipient?.mayHaveArrived = retry.mayHaveArrived
        if let home = recipient?.environment, let environment = retry.environment, environment != home {
            recipient?.movedFrom = home
            recipient?.environment = environment
        }
        var cause: EndedRetry.Cause? = isCancelled ? .cancelled : nil
        if retry.isInterrupted { cause = .interrupted }
        if cause == nil, lack == .otherKind || lack == .erased { cause = lack }
        if cause == nil, let recipient, recipient.id > 0 {
            switch try self.decide(recipient, fence: fence, in: database) {
            case .send: break
            case .wait(let until): return .later(until: until)
            case .end(let reason): cause = reason
            }
        }
        if cause == nil, let recipient { return .now(.due(recipient)) }
        let end = EndedRetry(
            id: retry.recipient,
            recipient: recipient,
            attempts: retry.attempts,
            cause: cause ?? lack,
            mayHaveArrived: retry.mayHaveArrived || retry.isInterrupted
        )
        return cause == nil && hasLeft ? .last(end) : .now(.ended(end))
    }

    /// Returns the recipient as it is now; the cause of its end if it cannot be sent to, and whether its device has left
    /// and can come back.
    private func current(
        _ retry: DueRetry,
        in database: Database
    ) throws -> (Recipient?, orElse: EndedRetry.Cause, hasLeft: Bool) {
        if retry.recipient < 0 {
            let named = try self.target(-retry.recipient, in: database)
            return (named.recipient, named.lack, false)
        }
        let statement = try RawStatement(sql: "SELECT \(self.columnList) FROM device WHERE id = ?", in: database)
        defer { statement.reset() }
        statement.bind(retry.recipient, at: 1)
        guard try statement.step() else { return (nil, .deviceRemoved, false) }
        guard statement.integer(7) == 0 else { return (nil, .deviceRemoved, statement.integer(7) == 1) }
        return (self.device(statement), self.isOfOtherKind(statement) ? .otherKind : .unreadable, false)
    }

    /// A decision about a recipient whose device is registered.
    private enum Decision {
        case send
        case wait(until: Timestamp?)
        case end(EndedRetry.Cause)
    }

    /// Decides whether a recipient is sent to, by what its device and others related to it have had.
    private func decide(_ recipient: Recipient, fence: Int64, in database: Database) throws -> Decision {
        if recipient.movedFrom != nil, try self.isRegistered(recipient, in: database) {
            return .end(.registeredElsewhere)
        }
        // Its device has moved to the other environment.
        if let only = self.notification.environment, recipient.environment != only { return .end(.leftAudience) }
        let changes = "SELECT churn, twin FROM device WHERE id = ? AND (churn > ? OR twin IS NOT NULL)"
        guard let row = try database.row(sql: changes, [recipient.id, self.openedAfter]) else { return .send }
        let hasChanged = (row["churn"] as Int64? ?? 0) > self.openedAfter
        if hasChanged, try !self.isInAudience(recipient.id, in: database) { return .end(.leftAudience) }
        if hasChanged, try SentTokenHistory.remembers(recipient.token, of: self.number, in: database) {
            return .end(.hadAlready)
        }
        var others = try self.links(of: recipient.id, in: database)
        // A device that came back may be later than the one that waited for it.
        if hasChanged { others += try self.laterTwins(of: recipient.id, in: database) }
        if self.notification.environment == nil, let twin = row["twin"] as Int64? { others.append((twin, true)) }
        var decision = Decision.send
        for (other, countsAll) in others {
            switch try self.decision(by: other, for: recipient, countsAll: countsAll, fence: fence, in: database) {
            case .send: continue
            case .wait(let until): decision = .wait(until: until)
            case .end(let cause): return .end(cause)
            }
        }
        return decision
    }

    /// Returns `true` if the token that is tried in the other environment is a device of its own there.
    private func isRegistered(_ recipient: Recipient, in database: Database) throws -> Bool {
        let sql = "SELECT 1 FROM device WHERE app = ? AND token = ? AND environment = ? AND hasLeft = 0 AND id != ?"
        let (token, environment) = (recipient.token.databaseValue, recipient.environment.code)
        return try database.hasRow(sql: sql, [self.app, token, environment, recipient.id])
    }

    /// Returns `true` if a device is still in the audience.
    private func isInAudience(_ device: Int64, in database: Database) throws -> Bool {
        guard case .devices(let audience) = self.notification.audience, audience != .everyone else { return true }
        let filter = AudienceSQL(audience, app: self.app)
        let arguments = StatementArguments([device.databaseValue] + filter.arguments)
        let sql = "SELECT 1 FROM device WHERE id = ? AND \(filter.sql)"
        return try database.hasRow(sql: sql, arguments, isKept: false)
    }

    /// Returns the devices that a device awaits since the notification was opened.
    private func links(of device: Int64, in database: Database) throws -> [(other: Int64, countsAll: Bool)] {
        let sql = "SELECT other, countsAll FROM deviceLink WHERE device = ? AND since > ?"
        return try database.rows(sql: sql, [device, self.openedAfter]).compactMap { row in
            (row["other"] as Int64?).map { ($0, row["countsAll"] as Bool? ?? true) }
        }
    }

    /// Returns the device with the same token in the other environment, if that is the later one of the two.
    private func laterTwins(of device: Int64, in database: Database) throws -> [(other: Int64, countsAll: Bool)] {
        guard self.notification.environment == nil else { return [] }
        return try database.integers(sql: "SELECT id FROM device WHERE twin = ?", [device]).map { ($0, true) }
    }

    /// Decides by the state of another recipient.
    /// - Parameter countsAll: Whether everything counts that the other one had. If not, only a push in flight is
    ///   awaited: ``SentTokenHistory`` has the rest.
    private func decision(
        by other: Int64,
        for recipient: Recipient,
        countsAll: Bool,
        fence: Int64,
        in database: Database
    ) throws -> Decision {
        let sql = """
            SELECT delivery.state, retry.attempts, retry.lease, retry.dueAt, retry.recipient IS NOT NULL AS waits,
                coalesce((SELECT hasLeft FROM device WHERE id = ?2), 1) AS hasLeft, EXISTS (
                    SELECT 1 FROM shard
                    WHERE shard.notification = ?1 AND isDone = 0 AND cursor < ?2 AND upTo >= ?2) AS isAhead
            FROM (SELECT ?1 AS notification, ?2 AS recipient) AS wanted
            LEFT JOIN delivery ON delivery.notification = wanted.notification
                AND delivery.recipient = wanted.recipient
            LEFT JOIN retry ON retry.notification = wanted.notification AND retry.recipient = wanted.recipient
            """
        guard let row = try database.row(sql: sql, [self.number, other]) else { return .send }
        if let state = row.value("state") as DeliveryRecord.State? {
            switch state {
            case .sending: return .wait(until: nil)
            case .accepted: return countsAll ? .end(.hadAlready) : .send
            // At most once: it may have arrived there.
            case .unknown where self.notification.guarantee == .atMostOnce: return countsAll ? .end(.hadAlready) : .send
            case .rejected, .failed, .skipped, .unknown: return .send
            }
        }
        guard row["waits"] as Bool? == true else { return row["isAhead"] as Bool? == true ? .wait(until: nil) : .send }
        if let lease = row["lease"] as Int64?, lease != fence { return .wait(until: nil) }
        // A recipient whose device has left waits for all others.
        guard countsAll, row["hasLeft"] as Bool? != true else { return .send }
        let isTried = (row["attempts"] as Int? ?? 0) > 0
        // Those that have been tried go first, then the earlier ones: no two wait for each other.
        let isFirst = (isTried ? 0 : 1, other) < (recipient.attempts > 0 ? 0 : 1, recipient.id)
        return isFirst ? .wait(until: row.time("dueAt")) : .send
    }
}
