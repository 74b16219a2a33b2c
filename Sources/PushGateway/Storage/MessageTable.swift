import Foundation
import GRDB
import NIOCore
import PushTypes
import PushWire

/// The stored messages of one environment. For each device and topic it contains the newest message (reference 7.1),
/// and those that were sent to a connected device and are not acknowledged.
struct MessageTable {
    let database: Database
    let environment: PushEnvironment

    /// Stores a message. Does nothing for a message that has no ``Message/expiresAt``, which must not be stored.
    func put(_ message: Message) throws {
        guard let expiresAt = message.expiresAt else { return }
        try self.database.run(
            """
            INSERT OR REPLACE INTO message (environment, device, topic, sequence, token, apnsID, pushType, priority,
                                            collapseID, payload, acceptedAt, expiresAt)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                self.environment.rawValue, Self.bytes(message.device), message.notification.topic.name,
                message.sequence, Data(message.token), message.notification.id,
                message.notification.pushType?.rawValue, message.notification.priority.rawValue,
                message.notification.collapseID, Data(message.notification.payload.readableBytesView),
                message.acceptedAt.milliseconds, expiresAt.milliseconds,
            ]
        )
    }

    func remove(_ message: Message) throws {
        try self.remove(device: message.device, topic: message.notification.topic.name, sequence: message.sequence)
    }

    /// Removes the older messages of the same topic, except those with the sequence numbers `kept`.
    /// - Returns: The events of the removed messages.
    func removeOlder(than message: Message, keeping kept: Set<Int64>, now: Timestamp) throws -> [Event] {
        let topic = message.notification.topic.name
        let older = try self.database.rows(
            """
            SELECT sequence, apnsID FROM message
            WHERE device = ? AND environment = ? AND topic = ? AND sequence < ? ORDER BY sequence
            """,
            [Self.bytes(message.device), self.environment.rawValue, topic, message.sequence]
        )
        return try older.compactMap { row in
            guard let sequence = row["sequence"] as Int64?, !kept.contains(sequence) else { return nil }
            try self.remove(device: message.device, topic: topic, sequence: sequence)
            return self.replaced(row, of: message.device, topic, now)
        }
    }

    /// Removes, for each topic of a device, all messages but the newest.
    /// - Returns: The events of the removed messages.
    func keepNewest(of device: UUID, now: Timestamp) throws -> [Event] {
        let newestFirst = try self.database.rows(
            """
            SELECT topic, sequence, apnsID FROM message WHERE device = ? AND environment = ?
            ORDER BY topic, sequence DESC
            """,
            [Self.bytes(device), self.environment.rawValue]
        )
        var (removed, last) = ([Event](), String?.none)
        for row in newestFirst {
            guard let topic = row["topic"] as String?, let sequence = row["sequence"] as Int64? else { continue }
            if topic == last {
                try self.remove(device: device, topic: topic, sequence: sequence)
                removed.append(self.replaced(row, of: device, topic, now))
            }
            last = topic
        }
        return removed.reversed()
    }

    private func replaced(_ row: Row, of device: UUID, _ topic: String, _ now: Timestamp) -> Event {
        var event = Event(.replaced, device: device, time: now, environment: self.environment, topic: Topic(topic))
        event.apnsID = row["apnsID"] as String? ?? ""
        return event
    }

    private func remove(device: UUID, topic: String, sequence: Int64) throws {
        try self.database.run(
            "DELETE FROM message WHERE device = ? AND environment = ? AND topic = ? AND sequence = ?",
            [Self.bytes(device), self.environment.rawValue, topic, sequence]
        )
    }

    /// Returns the messages of a device, oldest first. Rows that the gateway would not have written are left out.
    func messages(device: UUID) throws -> [Message] {
        try self.database.rows(
            "SELECT * FROM message WHERE device = ? AND environment = ? ORDER BY sequence",
            [Self.bytes(device), self.environment.rawValue]
        ).compactMap(Self.message)
    }

    /// Removes and returns the messages of a device for one topic, or for all topics if `topic` is `nil`.
    func take(device: UUID, topic: Topic?) throws -> [Message] {
        let taken = try self.messages(device: device).filter { topic == nil || $0.notification.topic == topic }
        for message in taken { try self.remove(message) }
        return taken
    }

    /// Removes and returns at most `limit` messages that expired by `now`.
    func takeExpired(now: Timestamp, limit: Int) throws -> [Message] {
        let expired = try self.database.rows(
            "SELECT * FROM message WHERE expiresAt <= ? AND environment = ? LIMIT ?",
            [now.milliseconds, self.environment.rawValue, limit]
        ).compactMap(Self.message)
        for message in expired { try self.remove(message) }
        return expired
    }

    private static func bytes(_ id: UUID) -> Data { withUnsafeBytes(of: id.uuid) { Data($0) } }

    private static func message(_ row: Row) -> Message? {
        guard let device = row.binaryID("device"), let topic = row.topic("topic"), let token = row["token"] as Data?,
            let apnsID = row["apnsID"] as String?, let stored = row.stored()
        else { return nil }
        return Message(
            sequence: stored.sequence,
            device: device,
            token: Array(token),
            notification: PushNotification(
                id: apnsID,
                topic: topic,
                pushType: (row["pushType"] as String?).flatMap(PushType.init(rawValue:)),
                priority: row.priority(),
                collapseID: row["collapseID"],
                payload: stored.payload
            ),
            topicHash: TopicHash(topic),
            acceptedAt: stored.acceptedAt,
            expiresAt: stored.expiresAt
        )
    }
}
