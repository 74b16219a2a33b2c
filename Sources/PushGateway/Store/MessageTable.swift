import Foundation
import GRDB
import NIOCore
import PushProtocol

/// The table of stored messages: one per device and topic, the newest (reference 7.1).
struct MessageTable {
    let database: Database
    let environment: PushEnvironment

    /// Replaces what was stored for this device and topic; the `apns-id` of that, if there was something older.
    func put(_ message: Message, expiresAt: Timestamp) throws -> String? {
        let (device, topic) = (Self.bytes(message.device), message.notification.topic.name)
        let replaced = try Row.fetchOne(
            self.statement("SELECT sequence, apnsID FROM message WHERE device = ? AND environment = ? AND topic = ?"),
            arguments: [device, self.environment.rawValue, topic]
        )
        // A message that was delivered out of turn must not take the place of a newer one.
        if let replaced, let sequence = replaced["sequence"] as Int64?, sequence >= message.sequence { return nil }
        try self.statement(
            """
            INSERT OR REPLACE INTO message (environment, device, topic, sequence, token, apnsID, pushType, priority,
                                            collapseID, payload, acceptedAt, expiresAt)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ).execute(
            arguments: [
                self.environment.rawValue, device, topic, message.sequence, Data(message.token),
                message.notification.id, message.notification.pushType?.rawValue,
                message.notification.priority.rawValue, message.notification.collapseID,
                Data(message.notification.payload.readableBytesView), message.acceptedAt.milliseconds,
                expiresAt.milliseconds,
            ]
        )
        return replaced?["apnsID"]
    }

    /// Deletes the message, or an older one that is stored in its place: a device that has this one wants no older one.
    func remove(_ message: Message) throws {
        try self.statement(
            "DELETE FROM message WHERE device = ? AND environment = ? AND topic = ? AND sequence <= ?"
        ).execute(
            arguments: [
                Self.bytes(message.device), self.environment.rawValue, message.notification.topic.name,
                message.sequence,
            ]
        )
    }

    /// Oldest first.
    func messages(device: UUID) throws -> [Message] {
        try Row.fetchAll(
            self.statement("SELECT * FROM message WHERE device = ? AND environment = ? ORDER BY sequence"),
            arguments: [Self.bytes(device), self.environment.rawValue]
        ).compactMap(Self.message)
    }

    /// Deletes and returns what is stored for a device, or for one topic of it.
    func take(device: UUID, topic: Topic?) throws -> [Message] {
        let taken = try self.messages(device: device).filter { topic == nil || $0.notification.topic == topic }
        for message in taken { try self.remove(message) }
        return taken
    }

    /// Deletes and returns what expired by `now`, at most `limit` messages.
    func takeExpired(now: Timestamp, limit: Int) throws -> [Message] {
        let expired = try Row.fetchAll(
            self.database,
            sql: "SELECT * FROM message WHERE expiresAt <= ? AND environment = ? LIMIT ?",
            arguments: [now.milliseconds, self.environment.rawValue, limit]
        ).compactMap(Self.message)
        for message in expired { try self.remove(message) }
        return expired
    }

    func count() throws -> Int {
        try Int.fetchOne(
            self.database,
            sql: "SELECT count(*) FROM message WHERE environment = ?",
            arguments: [self.environment.rawValue]
        ) ?? 0
    }

    static func lastSequence(_ database: Database) throws -> Int64 {
        try Int64.fetchOne(
            database,
            sql: """
                SELECT max(s) FROM (
                    SELECT max(sequence) s FROM message UNION SELECT max(sequence) FROM channelMessage
                    UNION SELECT max(lastSequence) FROM subscription
                )
                """
        ) ?? 0
    }

    private func statement(_ sql: String) throws -> Statement { try self.database.cachedStatement(sql: sql) }

    private static func bytes(_ id: UUID) -> Data { withUnsafeBytes(of: id.uuid) { Data($0) } }

    /// `nil` for a row that holds something else than was written.
    private static func message(_ row: Row) -> Message? {
        guard let device = (row["device"] as Data?).flatMap(Self.uuid),
            let topic = (row["topic"] as String?).flatMap({ Topic($0) }), let token = row["token"] as Data?,
            let sequence = row["sequence"] as Int64?, let apnsID = row["apnsID"] as String?,
            let payload = row["payload"] as Data?, let acceptedAt = row["acceptedAt"] as Int64?,
            let expiresAt = row["expiresAt"] as Int64?
        else { return nil }
        return Message(
            sequence: sequence,
            device: device,
            token: Array(token),
            notification: PushNotification(
                id: apnsID,
                topic: topic,
                pushType: (row["pushType"] as String?).flatMap(PushType.init(rawValue:)),
                priority: (row["priority"] as Int?).flatMap(UInt8.init(exactly:)).flatMap(Priority.init(rawValue:))
                    ?? .immediate,
                collapseID: row["collapseID"],
                payload: ByteBuffer(bytes: payload)
            ),
            topicHash: TopicHash(topic),
            acceptedAt: Timestamp(milliseconds: acceptedAt),
            expiresAt: Timestamp(milliseconds: expiresAt)
        )
    }

    static func uuid(_ data: Data) -> UUID? {
        data.count == 16 ? data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) } : nil
    }
}
