import Foundation
import GRDB
import PushProtocol

/// What tokens that devices have given up have had of the notifications that are being sent.
///
/// The ledger knows devices. While each keeps its token, that says what the token has had; from the moment a device gives
/// it up, it stands here (docs/decisions/0018).
struct TokenMemory {
    let app: Int64
    let database: Database

    /// Remembers what a token has had that a device gives up now. What is in flight follows with ``sent(to:of:readAt:)``.
    func gaveUp(_ token: DeviceToken, device: Int64) throws {
        // What the device had by an earlier token it has not had by this one.
        let statement = try self.database.cachedStatement(
            sql: """
                INSERT OR IGNORE INTO tokenHad (notification, token, device)
                SELECT number, ?1, ?3 FROM notification INDEXED BY notificationWatching
                WHERE app = ?2 AND finishedAt IS NULL AND openedAfter IS NOT NULL
                    AND EXISTS (
                        SELECT 1 FROM delivery
                        WHERE notification = number AND recipient = ?3
                            AND state IN (\(Self.sending), \(Self.accepted)))
                    AND NOT EXISTS (
                        SELECT 1 FROM tokenHad AS earlier
                        WHERE earlier.notification = number AND earlier.device = ?3)
                """
        )
        try statement.execute(arguments: [Data(token.bytes), self.app, device])
    }

    /// Remembers which devices were sent to by a token that they have given up since their page was read.
    /// - Parameter readAt: the registration clock's number when the recipients were read.
    func sent(to deliveries: [DeliveryResult], of notification: Int64, readAt: Int64) throws {
        let statement = try RawStatement(
            """
            SELECT device, token FROM formerToken INDEXED BY formerTokenBySince
            WHERE app = ? AND since > ? ORDER BY since
            """,
            in: self.database
        )
        defer { statement.reset() }
        statement.bind(self.app, at: 1)
        statement.bind(readAt, at: 2)
        var tokens: [Int64: DeviceToken] = [:]
        while try statement.step() {
            guard let token = statement.token(1), tokens[statement.integer(0)] == nil else { continue }
            tokens[statement.integer(0)] = token
        }
        guard !tokens.isEmpty else { return }
        for delivery in deliveries where delivery.state == .accepted {
            guard let token = tokens[delivery.recipient] else { continue }
            // Without one that has ended meanwhile.
            try self.database.execute(
                sql: """
                    INSERT OR IGNORE INTO tokenHad (notification, token, device)
                    SELECT number, ?, ? FROM notification WHERE number = ? AND finishedAt IS NULL
                    """,
                arguments: [Data(token.bytes), delivery.recipient, notification]
            )
        }
    }

    // What at-most-once has begun counts: it may have left.
    private static let sending = DeliveryRecord.State.sending.rawValue
    private static let accepted = DeliveryRecord.State.accepted.rawValue

    /// Tells whether a token has had a notification by a device that has given it up.
    static func has(_ token: DeviceToken, had notification: Int64, in database: Database) throws -> Bool {
        let statement = try RawStatement(
            "SELECT 1 FROM tokenHad WHERE notification = ? AND token = ?",
            in: database
        )
        defer { statement.reset() }
        statement.bind(notification, at: 1)
        statement.bind(token.bytes, at: 2)
        return try statement.step()
    }
}
