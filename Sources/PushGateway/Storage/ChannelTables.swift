import Foundation
import GRDB
import NIOCore
import PushTypes
import PushWire

/// The tables of what devices follow and of the newest broadcast of each channel.
struct ChannelTables {
    /// What one device follows: a channel and the last broadcast of it that the device has.
    struct Subscription: Hashable, Sendable {
        var channel: ChannelName
        var lastSequence: Int64
    }

    let database: Database
    let environment: PushEnvironment

    /// Keeps a broadcast in place of the channel's earlier one (reference 4.1, policy 1).
    func put(_ broadcast: Broadcast, expiresAt: Timestamp) throws {
        try self.database.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO channelMessage (environment, bundleID, channel, sequence, requestID, priority,
                                                       payload, acceptedAt, expiresAt)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(
            arguments: [
                self.environment.rawValue, broadcast.channel.bundleID.name, broadcast.channel.id, broadcast.sequence,
                broadcast.notification.id, broadcast.notification.priority.rawValue,
                Data(broadcast.notification.payload.readableBytesView), broadcast.acceptedAt.milliseconds,
                expiresAt.milliseconds,
            ]
        )
    }

    /// - Parameter limit: channels that one device may follow; more are not remembered.
    func subscribe(_ device: UUID, to channel: ChannelName, limit: Int) throws {
        try self.database.execute(
            sql: """
                INSERT OR IGNORE INTO subscription (environment, device, bundleID, channel, lastSequence)
                SELECT ?1, ?2, ?3, ?4, 0
                WHERE (SELECT count(*) FROM subscription WHERE device = ?2 AND environment = ?1) < ?5
                """,
            arguments: [self.environment.rawValue, device.uuidString, channel.bundleID.name, channel.id, limit]
        )
    }

    func unsubscribe(_ device: UUID, from channel: ChannelName) throws {
        try self.database.execute(
            sql: "DELETE FROM subscription WHERE device = ? AND environment = ? AND bundleID = ? AND channel = ?",
            arguments: [device.uuidString, self.environment.rawValue, channel.bundleID.name, channel.id]
        )
    }

    /// The device follows nothing any more.
    func unsubscribeAll(_ device: UUID) throws {
        try self.database.execute(
            sql: "DELETE FROM subscription WHERE device = ? AND environment = ?",
            arguments: [device.uuidString, self.environment.rawValue]
        )
    }

    /// The device has the broadcast `sequence`.
    func advance(_ device: UUID, on channel: ChannelName, to sequence: Int64) throws {
        try self.database.cachedStatement(
            sql: """
                UPDATE subscription SET lastSequence = max(lastSequence, ?)
                WHERE device = ? AND environment = ? AND bundleID = ? AND channel = ?
                """
        ).execute(
            arguments: [
                sequence, device.uuidString, self.environment.rawValue, channel.bundleID.name, channel.id,
            ]
        )
    }

    func subscriptions(of device: UUID) throws -> [Subscription] {
        try Row.fetchAll(
            self.database.cachedStatement(sql: "SELECT * FROM subscription WHERE device = ? AND environment = ?"),
            arguments: [device.uuidString, self.environment.rawValue]
        ).compactMap { row in
            guard let channel = Self.channel(row), let last = row["lastSequence"] as Int64? else { return nil }
            return Subscription(channel: channel, lastSequence: last)
        }
    }

    /// The channel's stored broadcast.
    func broadcast(on channel: ChannelName) throws -> Broadcast? {
        let row = try Row.fetchOne(
            self.database.cachedStatement(
                sql: "SELECT * FROM channelMessage WHERE environment = ? AND bundleID = ? AND channel = ?"
            ),
            arguments: [self.environment.rawValue, channel.bundleID.name, channel.id]
        )
        guard let row, let sequence = row["sequence"] as Int64?, let requestID = row["requestID"] as String?,
            let payload = row["payload"] as Data?, let acceptedAt = row["acceptedAt"] as Int64?,
            let expiresAt = row["expiresAt"] as Int64?
        else { return nil }
        return Broadcast(
            sequence: sequence,
            channel: channel,
            notification: PushNotification(
                id: requestID,
                topic: channel.topic,
                pushType: .liveactivity,
                priority: (row["priority"] as Int?).flatMap(UInt8.init(exactly:)).flatMap(Priority.init(rawValue:))
                    ?? .immediate,
                payload: ByteBuffer(bytes: payload)
            ),
            acceptedAt: Timestamp(milliseconds: acceptedAt),
            expiresAt: Timestamp(milliseconds: expiresAt)
        )
    }

    /// The channel is no more.
    func remove(_ channel: ChannelName) throws {
        for table in ["channelMessage", "subscription"] {
            try self.database.execute(
                sql: "DELETE FROM \(table) WHERE environment = ? AND bundleID = ? AND channel = ?",
                arguments: [self.environment.rawValue, channel.bundleID.name, channel.id]
            )
        }
    }

    func removeExpired(now: Timestamp) throws {
        try self.database.execute(
            sql: "DELETE FROM channelMessage WHERE environment = ? AND expiresAt <= ?",
            arguments: [self.environment.rawValue, now.milliseconds]
        )
    }

    private static func channel(_ row: Row) -> ChannelName? {
        guard let bundleID = (row["bundleID"] as String?).flatMap({ Topic($0) }), let id = row["channel"] as String?
        else { return nil }
        return ChannelName(bundleID: bundleID, id: id)
    }
}

/// One notification for all who follow a channel (reference 4.2).
struct Broadcast: Sendable {
    var sequence: Int64
    var channel: ChannelName
    /// Its id is the `apns-request-id`.
    var notification: PushNotification
    var acceptedAt: Timestamp
    /// `nil` when it is not kept for devices that are away.
    var expiresAt: Timestamp?

    func message(for device: UUID) -> Message {
        Message(
            sequence: self.sequence,
            device: device,
            token: [],
            notification: self.notification,
            topicHash: TopicHash(self.channel.topic),
            acceptedAt: self.acceptedAt,
            expiresAt: self.expiresAt,
            channel: self.channel
        )
    }
}
