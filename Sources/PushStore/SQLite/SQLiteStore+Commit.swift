package import Foundation
import GRDB
package import PushProtocol

extension SQLiteStore {
    package func commit(_ page: PageResult, notification: UUID, now: Timestamp) async throws {
        try await self.database.write { database in
            let id = notification.uuidString
            for delivery in page.deliveries { try Self.finish(delivery, notification: id, in: database) }
            for retry in page.retries { try Self.postpone(retry, notification: id, in: database) }
            for finding in page.findings { try Self.apply(finding, in: database) }
            if let cursor = page.cursor {
                try database.execute(
                    sql: """
                        UPDATE notification
                        SET cursor = max(cursor, ?), isWalked = max(isWalked, ?), leaseUntil = NULL, lastPageAt = ?
                        WHERE id = ?
                        """,
                    arguments: [cursor, page.isLast, now.milliseconds, id]
                )
            }
            try Self.updateState(of: id, now: now, in: database)
        }
    }

    /// Writes the final state once; counts it only then.
    private static func finish(_ delivery: DeliveryRecord, notification: String, in database: Database) throws {
        let recipient = delivery.recipient
        try database.execute(
            sql: "DELETE FROM retry WHERE notification = ? AND recipient = ?",
            arguments: [notification, recipient.id]
        )
        try database.execute(
            sql: """
                INSERT INTO delivery (notification, recipient, device, token, environment, state, apnsID, reason,
                    attempts, at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (notification, recipient) DO NOTHING
                """,
            arguments: [
                notification, recipient.id, recipient.device, Data(recipient.token.bytes),
                recipient.environment.rawValue, delivery.state.rawValue, delivery.apnsID, delivery.reason,
                delivery.attempts, delivery.at.milliseconds,
            ]
        )
        guard database.changesCount > 0 else { return }
        let counter =
            switch delivery.state {
            case .accepted: "accepted"
            case .rejected: "rejected"
            case .failed: "failed"
            }
        try database.execute(
            sql: "UPDATE notification SET \(counter) = \(counter) + 1 WHERE id = ?",
            arguments: [notification]
        )
    }

    private static func postpone(_ retry: RetryRecord, notification: String, in database: Database) throws {
        let recipient = retry.recipient
        try database.execute(
            sql: """
                INSERT INTO retry (notification, recipient, device, token, environment, registeredAt, attempts, dueAt)
                SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
                WHERE NOT EXISTS (SELECT 1 FROM delivery WHERE notification = ?1 AND recipient = ?2)
                ON CONFLICT (notification, recipient) DO UPDATE
                SET attempts = excluded.attempts, dueAt = excluded.dueAt
                """,
            arguments: [
                notification, recipient.id, recipient.device, Data(recipient.token.bytes),
                recipient.environment.rawValue, recipient.registeredAt?.milliseconds, recipient.attempts,
                retry.dueAt.milliseconds,
            ]
        )
    }

    private static func apply(_ finding: TokenFinding, in database: Database) throws {
        switch finding.verdict {
        case .good:
            try database.execute(
                sql: "UPDATE device SET suspicions = 0 WHERE id = ? AND suspicions > 0",
                arguments: [finding.device]
            )
        case .dead(let since):
            try database.execute(
                sql: "UPDATE device SET isActive = 0 WHERE id = ? AND registeredAt < ?",
                arguments: [finding.device, since.milliseconds]
            )
        case .suspect:
            try database.execute(
                sql: "UPDATE device SET suspicions = suspicions + 1 WHERE id = ?",
                arguments: [finding.device]
            )
        }
    }

    /// Done once the audience is walked and nothing waits for another try.
    private static func updateState(of notification: String, now: Timestamp, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE notification SET state = 'sending'
                WHERE id = ?1 AND state = 'accepted'
                """,
            arguments: [notification]
        )
        try database.execute(
            sql: """
                UPDATE notification SET state = 'done', finishedAt = ?
                WHERE id = ? AND state != 'done' AND isWalked = 1
                    AND NOT EXISTS (SELECT 1 FROM retry WHERE retry.notification = notification.id)
                """,
            arguments: [now.milliseconds, notification]
        )
    }
}
