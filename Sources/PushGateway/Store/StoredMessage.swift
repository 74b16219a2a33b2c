import Foundation
import GRDB
import NIOCore
import PushProtocol

/// A notification that waits for a device, or that a device has not acknowledged yet.
struct StoredMessage: Hashable, Sendable {
    /// Rises with every accepted push: tells a message from the one that replaced it.
    var sequence: Int64
    var device: UUID
    var token: DeviceToken
    var notification: PushNotification
    var acceptedAt: Timestamp
    /// `nil` when it must not be stored: then it lives only as long as its delivery.
    var expiresAt: Timestamp?
}

/// The table of stored messages: one per device and topic, the newest (reference 7.1).
struct MessageTable {
    let database: Database

    /// Replaces what was stored for this device and topic; the `apns-id` of that, if there was something.
    func put(_ message: StoredMessage, expiresAt: Timestamp) throws -> String? {
        let (device, topic) = (message.device.uuidString, message.notification.topic.name)
        let replaced = try String.fetchOne(
            self.database,
            sql: "SELECT apnsID FROM message WHERE device = ? AND topic = ?",
            arguments: [device, topic]
        )
        if replaced != nil { try self.remove(device: message.device, topic: message.notification.topic) }
        try self.database.execute(
            sql: """
                INSERT INTO message (device, topic, sequence, token, apnsID, pushType, priority, collapseID, payload,
                                     acceptedAt, expiresAt)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                device, topic, message.sequence, Data(message.token.bytes), message.notification.id,
                message.notification.pushType?.rawValue,
                message.notification.priority.rawValue, message.notification.collapseID,
                Data(message.notification.payload.readableBytesView), message.acceptedAt.milliseconds,
                expiresAt.milliseconds,
            ]
        )
        return replaced
    }

    /// Deletes the message if it is still the stored one.
    func remove(_ message: StoredMessage) throws {
        try self.database.execute(
            sql: "DELETE FROM message WHERE device = ? AND topic = ? AND sequence = ?",
            arguments: [message.device.uuidString, message.notification.topic.name, message.sequence]
        )
    }

    func removeAll(device: UUID) throws {
        try self.database.execute(sql: "DELETE FROM message WHERE device = ?", arguments: [device.uuidString])
    }

    func remove(device: UUID, topic: Topic) throws {
        try self.database.execute(
            sql: "DELETE FROM message WHERE device = ? AND topic = ?",
            arguments: [device.uuidString, topic.name]
        )
    }

    func messages(device: UUID) throws -> [StoredMessage] {
        try Row.fetchAll(
            self.database,
            sql: "SELECT * FROM message WHERE device = ? ORDER BY sequence",
            arguments: [device.uuidString]
        ).compactMap(Self.message)
    }

    /// Deletes and returns what expired by `now`, at most `limit` messages.
    func takeExpired(now: Timestamp, limit: Int) throws -> [StoredMessage] {
        let expired = try Row.fetchAll(
            self.database,
            sql: "SELECT * FROM message WHERE expiresAt <= ? LIMIT ?",
            arguments: [now.milliseconds, limit]
        ).compactMap(Self.message)
        for message in expired { try self.remove(message) }
        return expired
    }

    func lastSequence() throws -> Int64 {
        try Int64.fetchOne(self.database, sql: "SELECT max(sequence) FROM message") ?? 0
    }

    /// `nil` for a row that holds something else than was written.
    private static func message(_ row: Row) -> StoredMessage? {
        guard let device = (row["device"] as String?).flatMap(UUID.init(uuidString:)),
            let topic = (row["topic"] as String?).flatMap({ Topic($0) }),
            let token = (row["token"] as Data?).flatMap({ DeviceToken(bytes: Array($0)) }),
            let sequence = row["sequence"] as Int64?, let apnsID = row["apnsID"] as String?,
            let payload = row["payload"] as Data?, let acceptedAt = row["acceptedAt"] as Int64?,
            let expiresAt = row["expiresAt"] as Int64?
        else { return nil }
        return StoredMessage(
            sequence: sequence,
            device: device,
            token: token,
            notification: PushNotification(
                id: apnsID,
                topic: topic,
                pushType: (row["pushType"] as String?).flatMap(PushType.init(rawValue:)),
                priority: (row["priority"] as Int?).flatMap(UInt8.init(exactly:)).flatMap(Priority.init(rawValue:))
                    ?? .immediate,
                collapseID: row["collapseID"],
                payload: ByteBuffer(bytes: payload)
            ),
            acceptedAt: Timestamp(milliseconds: acceptedAt),
            expiresAt: Timestamp(milliseconds: expiresAt)
        )
    }
}
