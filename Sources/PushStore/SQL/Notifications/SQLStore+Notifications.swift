package import Foundation
package import ProviderModel
package import PushTypes

extension SQLStore {
    package func accepted(_ idempotency: Idempotency, app: Int64) async throws -> Acceptance? {
        try await self.database.lookup { try NotificationRow.accepted(idempotency, app: app, in: $0) }
    }

    package func notification(_ id: UUID) async throws -> NotificationRecord? {
        try await self.database.lookup { try NotificationRow.fetch(id, in: $0) }
    }

    package func setState(
        _ change: StateChange,
        of notification: UUID,
        now: Timestamp
    ) async throws -> NotificationRecord? {
        let result: Result<NotificationRecord?, DamagedRow> = try await self.database.writeLedger { database in
            try database.lock(.exclusive, "notification", where: "id = ?", [notification.uuidString])
            let sql = "SELECT number FROM notification WHERE id = ?"
            guard let number = try database.integer(sql: sql, [notification.uuidString]) else { return .success(nil) }
            switch change {
            case .pause(let reason): try NotificationRow.pause(number, reason: reason, in: database)
            case .resume: try NotificationRow.resume(number, now: now, in: database)
            case .cancel: try NotificationRow.cancel(number, now: now, in: database)
            }
            do {
                return .success(try NotificationRow.fetch(notification, in: database))
            } catch let error as DamagedRow {
                // A damaged notification can be paused or cancelled, but not resumed.
                guard change != .resume else { throw error }
                if change == .cancel { try NotificationRow.endRetries(number, now: now, in: database) }
                return .failure(error)
            }
        }
        return try result.get()
    }
}

extension NotificationRow {
    /// Returns the response to a request whose idempotency key was used before, or `nil` if the key is new.
    static func accepted(_ idempotency: Idempotency, app: Int64, in database: any SQLConnection) throws -> Acceptance? {
        let sql = "SELECT * FROM notification WHERE app = ? AND idempotencyKey = ?"
        guard let row = try database.row(sql: sql, [app, idempotency.key]) else { return nil }
        guard row["fingerprint"] as Data? == Data(idempotency.fingerprint) else { return .conflict }
        return .repeated(try NotificationRow.record(row, in: database))
    }

    /// Decodes a notification's row.
    /// - Returns: The value, or `nil` for a damaged row, whose number is passed to `damaged`.
    static func readable<Value>(
        _ row: SQLRow,
        orElse damaged: (Int64) throws -> Void,
        _ make: (SQLRow) throws -> Value
    ) throws -> Value? {
        do {
            return try make(row)
        } catch let error as DamagedRow {
            guard let number = row["number"] as Int64? else { throw error }
            try damaged(number)
            return nil
        }
    }

    /// Pauses notifications that cannot be decoded, because each would block all other notifications of its lane.
    static func setAside(_ damaged: [Int64], in database: any SQLConnection) throws {
        for number in damaged {
            try Self.pause(number, reason: "what is stored of it cannot be read", in: database)
        }
    }

    /// Pauses a notification that has not finished. The reason is the provider's, or `nil` for a caller's request.
    static func pause(_ number: Int64, reason: String?, in database: any SQLConnection) throws {
        let sql = """
            UPDATE notification SET state = 'paused', pauseReason = ?
            WHERE number = ? AND state IN ('scheduled', 'accepted', 'sending')
            """
        try database.run(sql: sql, [reason, number])
    }

    /// Resumes a notification. A notification without shards was not opened yet, so it becomes scheduled again.
    fileprivate static func resume(_ number: Int64, now: Timestamp, in database: any SQLConnection) throws {
        let sql = """
            UPDATE notification SET pauseReason = NULL, state = CASE
                WHEN NOT EXISTS (SELECT 1 FROM shard WHERE shard.notification = notification.number) THEN 'scheduled'
                WHEN startedAt IS NULL THEN 'accepted' ELSE 'sending' END
            WHERE number = ? AND state = 'paused'
            """
        guard try database.run(sql: sql, number) > 0 else { return }
        try NotificationCompletion.finishIfComplete(number, now: now, in: database)
    }

    /// Cancels a notification. Recipients that wait for another attempt become due immediately and get their final
    /// states. Recipients in flight get theirs from the responses. Recipients without any attempt get none.
    static func cancel(_ number: Int64, now: Timestamp, in database: any SQLConnection) throws {
        let sql = """
            UPDATE notification SET state = 'cancelled', finishedAt = ?
            WHERE number = ? AND state NOT IN ('done', 'cancelled')
            """
        guard try database.run(sql: sql, now.milliseconds, number) > 0 else { return }
        let due = "UPDATE retry SET dueAt = min(dueAt, ?) WHERE notification = ? AND lease IS NULL"
        try database.run(sql: due, now.milliseconds, number)
        try NotificationCompletion.tidy(number, in: database)
    }

    /// Finishes the retries of a cancelled, damaged notification. Otherwise they would be claimed repeatedly.
    fileprivate static func endRetries(_ number: Int64, now: Timestamp, in database: any SQLConnection) throws {
        guard try database.hasRow(sql: "SELECT 1 FROM notification WHERE number = ? AND state = 'cancelled'", number)
        else { return }
        let reason = try DeliveryReason(EndingCause.unreadable.rawValue).id(in: database)
        let sql = """
            INSERT INTO delivery (notification, recipient, state, attempts, at, reason)
                SELECT notification, recipient, ?4, attempts, ?2, ?3 FROM retry
                WHERE notification = ?1 AND CASE WHEN mayHaveArrived = 1 OR EXISTS (
                    SELECT 1 FROM delivery AS begun WHERE begun.notification = retry.notification
                        AND begun.recipient = retry.recipient AND begun.state = 0) THEN 1 ELSE 0 END = ?5
            ON CONFLICT (notification, recipient) DO UPDATE
                SET state = excluded.state, attempts = excluded.attempts, at = excluded.at, reason = excluded.reason
                WHERE delivery.state = 0
            """
        for (state, mayHaveArrived) in [(DeliveryRecord.State.failed, 0), (.unknown, 1)] {
            let at = now.milliseconds
            let ended = try database.run(sql: sql, number, at, reason, state.rawValue, Int64(mayHaveArrived))
            let count = "UPDATE notification SET \(state.word) = \(state.word) + ? WHERE number = ?"
            try database.run(sql: count, Int64(ended), number)
        }
        try database.run(sql: "DELETE FROM retry WHERE notification = ?", number)
    }
}
