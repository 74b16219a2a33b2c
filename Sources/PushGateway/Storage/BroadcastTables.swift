import Foundation
import GRDB
import NIOCore
import PushTypes

/// The tables for one environment's broadcasts: the newest of each channel, and the channels that devices follow.
struct BroadcastTables {
    /// A channel that a device follows, with the sequence number of the last broadcast that the device received on it.
    struct Subscription: Hashable, Sendable {
        var channel: ChannelName
        var lastSequence: Int64
    }

    let database: Database
    let environment: PushEnvironment

    /// Stores a broadcast in place of the channel's earlier one, as policy 1 requires (reference 4.1).
    func put(_ broadcast: SequencedBroadcast, expiresAt: Timestamp) throws {
        try self.database.run(
            """
            INSERT OR REPLACE INTO channelMessage (environment, bundleID, channel, sequence, requestID, priority,
                                                   payload, acceptedAt, expiresAt)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            self.key(broadcast.channel) + [
                broadcast.sequence, broadcast.notification.id, broadcast.notification.priority.rawValue,
                Data(broadcast.notification.payload.readableBytesView), broadcast.acceptedAt.milliseconds,
                expiresAt.milliseconds,
            ]
        )
    }

    /// Adds a subscription, unless the device has it already.
    /// - Parameter limit: The maximum number of channels that one device follows. Further ones are not stored.
    func subscribe(_ device: UUID, to channel: ChannelName, limit: Int) throws {
        try self.database.run(
            """
            INSERT OR IGNORE INTO subscription (environment, device, bundleID, channel, lastSequence)
            SELECT ?1, ?2, ?3, ?4, 0
            WHERE (SELECT count(*) FROM subscription WHERE device = ?2 AND environment = ?1) < ?5
            """,
            [self.environment.rawValue, device.uuidString, channel.bundleID.name, channel.id, limit]
        )
    }

    func unsubscribe(_ device: UUID, from channel: ChannelName) throws {
        try self.database.run(
            "DELETE FROM subscription WHERE environment = ? AND bundleID = ? AND channel = ? AND device = ?",
            self.key(channel) + [device.uuidString]
        )
    }

    func unsubscribeAll(_ device: UUID) throws {
        try self.database.run(
            "DELETE FROM subscription WHERE device = ? AND environment = ?",
            [device.uuidString, self.environment.rawValue]
        )
    }

    /// Records `sequence` as the last broadcast on the channel that the device has received.
    func advance(_ device: UUID, on channel: ChannelName, to sequence: Int64) throws {
        try self.database.run(
            """
            UPDATE subscription SET lastSequence = max(lastSequence, ?4)
            WHERE environment = ?1 AND bundleID = ?2 AND channel = ?3 AND device = ?5
            """,
            self.key(channel) + [sequence, device.uuidString]
        )
    }

    func subscriptions(of device: UUID) throws -> [Subscription] {
        try self.database.rows(
            "SELECT * FROM subscription WHERE device = ? AND environment = ?",
            [device.uuidString, self.environment.rawValue]
        ).compactMap { row in
            guard let bundleID = row.topic("bundleID"), let id = row["channel"] as String?,
                let last = row["lastSequence"] as Int64?
            else { return nil }
            return Subscription(channel: ChannelName(bundleID: bundleID, id: id), lastSequence: last)
        }
    }

    /// Returns the stored broadcast of a channel, or `nil` if there is none.
    func broadcast(on channel: ChannelName) throws -> SequencedBroadcast? {
        let sql = "SELECT * FROM channelMessage WHERE environment = ? AND bundleID = ? AND channel = ?"
        guard let row = try self.database.rows(sql, self.key(channel)).first, let stored = row.stored(),
            let requestID = row["requestID"] as String?
        else { return nil }
        return SequencedBroadcast(
            sequence: stored.sequence,
            channel: channel,
            notification: PushNotification(
                id: requestID,
                topic: channel.topic,
                pushType: .liveactivity,
                priority: row.priority(),
                payload: stored.payload
            ),
            acceptedAt: stored.acceptedAt,
            expiresAt: stored.expiresAt
        )
    }

    func remove(_ channel: ChannelName) throws {
        for table in ["channelMessage", "subscription"] {
            try self.database.run(
                "DELETE FROM \(table) WHERE environment = ? AND bundleID = ? AND channel = ?",
                self.key(channel)
            )
        }
    }

    func removeExpired(now: Timestamp) throws {
        try self.database.run(
            "DELETE FROM channelMessage WHERE environment = ? AND expiresAt <= ?",
            [self.environment.rawValue, now.milliseconds]
        )
    }

    private func key(_ channel: ChannelName) -> StatementArguments {
        [self.environment.rawValue, channel.bundleID.name, channel.id]
    }
}

struct ChannelTable {
    let database: Database

    /// Returns all channels. Rows with values that the gateway would not have written are left out.
    func channels() throws -> [RegisteredChannel] {
        try self.database.rows("SELECT * FROM channel").compactMap { row in
            guard let environment = row.environment(), let bundleID = row.topic("bundleID"),
                let id = row["id"] as String?, let policy = row.integer("policy").flatMap(ChannelPolicy.init(rawValue:))
            else { return nil }
            let name = ChannelName(bundleID: bundleID, id: id)
            return RegisteredChannel(environment: environment, name: name, policy: policy)
        }
    }

    func insert(_ channel: RegisteredChannel, at now: Timestamp) throws {
        try self.database.run(
            "INSERT INTO channel (environment, bundleID, id, policy, createdAt) VALUES (?, ?, ?, ?, ?)",
            [
                channel.environment.rawValue, channel.name.bundleID.name, channel.name.id, channel.policy.rawValue,
                now.milliseconds,
            ]
        )
    }

    func delete(_ name: ChannelName, in environment: PushEnvironment) throws {
        try self.database.run(
            "DELETE FROM channel WHERE environment = ? AND bundleID = ? AND id = ?",
            [environment.rawValue, name.bundleID.name, name.id]
        )
    }

    func deleteAll(app bundleID: Topic) throws {
        try self.database.run("DELETE FROM channel WHERE bundleID = ?", [bundleID.name])
    }
}
