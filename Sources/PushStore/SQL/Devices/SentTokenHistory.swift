import Foundation
import ProviderModel
import PushTypes

/// Records which notifications in progress were sent to a token when the token's device gives it up.
///
/// The ledger has final states by device. They no longer tell what was sent to a token that the device has given up
/// (docs/decisions/0018).
struct SentTokenHistory {
    let app: Int64
    let database: any SQLConnection

    /// Records the notifications sent to a token that its device gives up. ``correct(_:)`` adds a page in flight.
    func gaveUp(_ token: DeviceToken, device: Int64) throws {
        // Notifications that were sent to the device by an earlier token are excluded.
        let isNew = """
            NOT EXISTS (
                SELECT 1 FROM tokenHad AS earlier WHERE earlier.notification = number AND earlier.device = ?3)
            """
        // Bulk notifications in progress are few. Urgent notifications are found by the device.
        let queries = [
            """
            SELECT number, ?1, ?3 FROM notification INDEXED BY notificationWatchingBulk
            WHERE app = ?2 AND lane = 1 AND finishedAt IS NULL AND openedAfter IS NOT NULL AND \(isNew) AND EXISTS (
                SELECT 1 FROM delivery WHERE notification = number AND recipient = ?3 AND \(Self.hasHad))
            """,
            """
            SELECT number, ?1, ?3 FROM delivery INDEXED BY deliveryByDevice
                JOIN notification ON number = delivery.notification
            WHERE delivery.device = ?3 AND recipient = ?3 AND \(Self.hasHad)
                AND app = ?2 AND finishedAt IS NULL AND openedAfter IS NOT NULL AND \(isNew)
            """,
        ]
        for query in queries {
            let sql = "INSERT INTO tokenHad (notification, token, device) \(query) ON CONFLICT DO NOTHING"
            try self.database.run(sql: sql, [Data(token.bytes), self.app, device])
        }
    }

    /// The SQL condition that a push was accepted, is being sent or, under `atMostOnce`, has an unknown outcome.
    private static let hasHad = """
        (delivery.state IN (\(DeliveryRecord.State.accepted.rawValue), \(DeliveryRecord.State.sending.rawValue))
            OR delivery.state = \(DeliveryRecord.State.unknown.rawValue)
            AND notification.guarantee = '\(NotificationRecord.Guarantee.atMostOnce.rawValue)')
        """

    /// Records the tokens of the page's recipients whose devices gave up a token after the page was read.
    func correct(_ page: PageResult) throws {
        guard let snapshot = page.snapshot else { return }
        let former = "SELECT device FROM formerToken INDEXED BY formerTokenBySince WHERE app = ? AND since > ?"
        let changed = Set(try self.database.integers(sql: former, [self.app, snapshot.clock]))
        guard !changed.isEmpty else { return }
        let isAtMostOnce = try self.isAtMostOnce(page.notificationNumber)
        let ends = page.deliveries.map { delivery in
            let hasHad = delivery.state == .accepted || delivery.state == .sending
            return (delivery.recipient, hasHad || isAtMostOnce && delivery.state == .unknown)
        }
        let had = Dictionary(ends + page.retries.map { ($0.recipient, false) }) { $0 || $1 }
        for recipient in snapshot.recipients where changed.contains(recipient.id) {
            guard let hasHad = had[recipient.id] else { continue }
            let earlier = "DELETE FROM tokenHad WHERE notification = ? AND device = ?"
            try self.database.run(sql: earlier, page.notificationNumber, recipient.id)
            guard hasHad else { continue }
            // Notifications that have finished meanwhile are excluded.
            let sql = """
                INSERT INTO tokenHad (notification, token, device)
                SELECT number, ?, ? FROM notification WHERE number = ? AND finishedAt IS NULL
                ON CONFLICT DO NOTHING
                """
            try self.database.run(sql: sql, [Data(recipient.token.bytes), recipient.id, page.notificationNumber])
        }
    }

    private func isAtMostOnce(_ notification: Int64) throws -> Bool {
        let sql = "SELECT 1 FROM notification WHERE number = ? AND guarantee = ?"
        return try self.database.hasRow(sql: sql, [notification, NotificationRecord.Guarantee.atMostOnce.rawValue])
    }

    /// Returns whether a notification was sent to a token while another device had the token.
    static func remembers(_ token: DeviceToken, of notification: Int64, in database: any SQLConnection) throws -> Bool {
        let sql = "SELECT 1 FROM tokenHad WHERE notification = ? AND token = ?"
        return try database.hasRow(sql: sql, [notification, Data(token.bytes)])
    }
}
