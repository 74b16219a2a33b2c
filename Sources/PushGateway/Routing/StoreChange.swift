import Foundation
import GRDB
import PushTypes

/// Something that the core wants written with the next group.
enum StoreChange: Sendable {
    /// Stores a message that is on its way to its device, beside all others.
    case put(Message)
    /// Stores a message in the place of the older ones of its topic, apart from these sequence numbers: they are on their
    /// way to the device.
    case putNewest(Message, beside: Set<Int64>)
    /// Of each topic, the newest of a device's stays: it is offline now.
    case keepNewest(UUID)
    case remove(Message)
    /// Removes what is older than this one of its topic, apart from these sequence numbers.
    case removeOlder(Message, beside: Set<Int64>)
    /// What is stored for an app that is gone, or for all of a device's.
    case discard(device: UUID, topic: Topic?)
    case putBroadcast(Broadcast)
    case advance(device: UUID, channel: ChannelName, sequence: Int64)
    case subscribe(device: UUID, channel: ChannelName, limit: Int)
    case unsubscribe(device: UUID, channel: ChannelName)
    case removeChannel(ChannelName)
    case purge
}

/// What the core wants read after the changes before it.
struct StoreLoad: Hashable, Sendable {
    enum Part: Hashable, Sendable {
        /// What is stored for the device; after a filter also what it follows.
        case messages(isFirst: Bool)
        case channel(ChannelName)
    }

    var device: UUID
    var session: DeviceSession.ID
    var part: Part
    /// One of the moments at which a device that is not in use is woken.
    var isWindow = false
}

/// What was read for a session.
struct LoadedMessages: Sendable {
    var load: StoreLoad
    var messages: [Message] = []
    var subscriptions: [ChannelName] = []
}

/// One group's worth of the core's changes and reads, and who waits for it.
struct StoreBatch: Sendable {
    /// A push whose owner has to be answered.
    struct Waiter: Sendable {
        var owner: any SubmissionDelegate
        var ticket: UInt32
        var id: String
    }

    struct Outcome: Sendable {
        var events: [Event] = []
        var loaded: [LoadedMessages] = []
    }

    /// Expired messages removed in one go.
    private static let expiryBatch = 2000

    var changes: [StoreChange] = []
    var loads: [StoreLoad] = []
    var waiters: [Waiter] = []

    var isEmpty: Bool { self.changes.isEmpty && self.loads.isEmpty && self.waiters.isEmpty }

    func perform(_ database: Database, _ environment: PushEnvironment, now: Timestamp) throws -> Outcome {
        var outcome = Outcome()
        let messages = MessageTable(database: database, environment: environment)
        let channels = ChannelTables(database: database, environment: environment)
        for change in self.changes {
            outcome.events += try Self.perform(change, messages, channels, environment, now: now)
        }
        for load in self.loads { outcome.loaded.append(try Self.perform(load, messages, channels, now: now)) }
        return outcome
    }

    private static func perform(
        _ change: StoreChange,
        _ messages: MessageTable,
        _ channels: ChannelTables,
        _ environment: PushEnvironment,
        now: Timestamp
    ) throws -> [Event] {
        switch change {
        case .put(let message): try messages.put(message)
        case .putNewest(let message, let others):
            let replaced = try messages.removeOlder(than: message, beside: others)
            try messages.put(message)
            return replaced.map { $0.event(.replaced, environment, now) }
        case .keepNewest(let device):
            return try messages.keepNewest(of: device).map { $0.event(.replaced, environment, now) }
        case .remove(let message): try messages.remove(message)
        case .removeOlder(let message, let others):
            return try messages.removeOlder(than: message, beside: others)
                .map { $0.event(.replaced, environment, now) }
        case .discard(let device, let topic):
            if topic == nil { try channels.unsubscribeAll(device) }
            return try messages.take(device: device, topic: topic)
                .map { Event(.unregisteredFromStorage, $0, environment, time: now) }
        case .putBroadcast(let broadcast):
            if let end = broadcast.expiresAt { try channels.put(broadcast, expiresAt: end) }
        case .advance(let device, let channel, let sequence):
            try channels.advance(device, on: channel, to: sequence)
        case .subscribe(let device, let channel, let limit):
            try channels.subscribe(device, to: channel, limit: limit)
        case .unsubscribe(let device, let channel): try channels.unsubscribe(device, from: channel)
        case .removeChannel(let channel): try channels.remove(channel)
        case .purge:
            try channels.removeExpired(now: now)
            return try messages.takeExpired(now: now, limit: Self.expiryBatch)
                .map { Event(.expired, $0, environment, time: now) }
        }
        return []
    }

    private static func perform(
        _ load: StoreLoad,
        _ messages: MessageTable,
        _ channels: ChannelTables,
        now: Timestamp
    ) throws -> LoadedMessages {
        var loaded = LoadedMessages(load: load)
        switch load.part {
        case .messages(let isFirst):
            loaded.messages = try messages.messages(device: load.device)
            let subscriptions = try channels.subscriptions(of: load.device)
            if isFirst { loaded.subscriptions = subscriptions.map(\.channel) }
            for subscription in subscriptions {
                guard let broadcast = try channels.broadcast(on: subscription.channel),
                    broadcast.sequence > subscription.lastSequence
                else { continue }
                loaded.messages.append(broadcast.message(for: load.device))
            }
        case .channel(let channel):
            loaded.subscriptions = [channel]
            let known = try channels.subscriptions(of: load.device).first { $0.channel == channel }
            if let broadcast = try channels.broadcast(on: channel), broadcast.sequence > known?.lastSequence ?? 0 {
                loaded.messages.append(broadcast.message(for: load.device))
            }
        }
        return loaded
    }
}

extension Submission {
    var waiter: StoreBatch.Waiter { .init(owner: self.owner, ticket: self.ticket, id: self.push.notification.id) }
}
