import Foundation
import PushTypes

/// A change that the router writes to the store with its next group.
enum StoreChange: Sendable {
    /// Stores a message that is in flight to its device, without removing other messages.
    case put(Message)
    /// Stores a message and removes the older ones of its topic, except those in flight, with the numbers `keeping`.
    case putNewest(Message, keeping: Set<Int64>)
    /// Removes all messages of an offline device except the newest of each topic.
    case keepNewest(UUID)
    case remove(Message)
    /// Removes the messages of the same topic that are older than this one, except those with the sequence numbers
    /// `keeping`.
    case removeOlder(Message, keeping: Set<Int64>)
    /// Removes a device's messages for a removed app, or all its messages and subscriptions if `topic` is `nil`.
    case discard(device: UUID, topic: Topic?)
    case putBroadcast(SequencedBroadcast)
    case advance(device: UUID, channel: ChannelName, sequence: Int64)
    case subscribe(device: UUID, channel: ChannelName, limit: Int)
    case unsubscribe(device: UUID, channel: ChannelName)
    case removeChannel(ChannelName)
    /// Removes expired messages and broadcasts.
    case purge
}

/// A read of the store for a session, which runs after the changes in the same group.
struct StoreLoad: Hashable, Sendable {
    enum Part: Hashable, Sendable {
        /// The read of the messages that are stored for the device. The first read after the device sent its filter
        /// also returns its subscriptions.
        case messages(isFirst: Bool)
        case channel(ChannelName)
    }

    var session: DeviceSession.ID
    var part: Part
    /// A Boolean value that indicates whether the device is being woken for messages that were held.
    var isWindow = false
}

struct LoadedMessages: Sendable {
    var load: StoreLoad
    var messages: [Message] = []
    var subscriptions: [ChannelName] = []
}

/// A group of changes and reads of the store in one transaction, and the pushes that are accepted once it is committed.
struct StoreBatch: Sendable {
    /// The result of a committed group: the events to log, and the messages that were read.
    struct Outcome: Sendable {
        var events: [Event] = []
        var loaded: [LoadedMessages] = []
    }

    var changes: [StoreChange] = []
    var loads: [StoreLoad] = []
    var submissions: [PendingSubmission] = []

    var isEmpty: Bool { self.changes.isEmpty && self.loads.isEmpty && self.submissions.isEmpty }
}

extension GatewayTables {
    /// The maximum number of expired messages that one group removes.
    private static let expiryBatch = 2000

    func perform(_ batch: StoreBatch, in environment: PushEnvironment, now: Timestamp) throws -> StoreBatch.Outcome {
        var outcome = StoreBatch.Outcome()
        let (messages, broadcasts) = (self.messages(environment), self.broadcasts(environment))
        for change in batch.changes { outcome.events += try Self.perform(change, messages, broadcasts, now: now) }
        for load in batch.loads { outcome.loaded.append(try Self.perform(load, messages, broadcasts)) }
        return outcome
    }

    /// Performs one change.
    /// - Returns: The events of messages that the change has removed.
    private static func perform(
        _ change: StoreChange,
        _ messages: MessageTable,
        _ broadcasts: BroadcastTables,
        now: Timestamp
    ) throws -> [Event] {
        let environment = messages.environment
        switch change {
        case .put(let message): try messages.put(message)
        case .putNewest(let message, let kept):
            let replaced = try messages.removeOlder(than: message, keeping: kept, now: now)
            try messages.put(message)
            return replaced
        case .keepNewest(let device): return try messages.keepNewest(of: device, now: now)
        case .remove(let message): try messages.remove(message)
        case .removeOlder(let message, let kept):
            return try messages.removeOlder(than: message, keeping: kept, now: now)
        case .discard(let device, let topic):
            if topic == nil { try broadcasts.unsubscribeAll(device) }
            return try messages.take(device: device, topic: topic)
                .map { Event(.unregisteredFromStorage, $0, environment, time: now) }
        case .putBroadcast(let broadcast):
            if let end = broadcast.expiresAt { try broadcasts.put(broadcast, expiresAt: end) }
        case .advance(let device, let channel, let sequence): try broadcasts.advance(device, on: channel, to: sequence)
        case .subscribe(let device, let channel, let limit): try broadcasts.subscribe(device, to: channel, limit: limit)
        case .unsubscribe(let device, let channel): try broadcasts.unsubscribe(device, from: channel)
        case .removeChannel(let channel): try broadcasts.remove(channel)
        case .purge:
            try broadcasts.removeExpired(now: now)
            return try messages.takeExpired(now: now, limit: Self.expiryBatch)
                .map { Event(.expired, $0, environment, time: now) }
        }
        return []
    }

    private static func perform(
        _ load: StoreLoad,
        _ messages: MessageTable,
        _ broadcasts: BroadcastTables
    ) throws -> LoadedMessages {
        var loaded = LoadedMessages(load: load)
        let subscriptions = try broadcasts.subscriptions(of: load.session.device)
        switch load.part {
        case .messages(let isFirst):
            loaded.messages = try messages.messages(device: load.session.device)
            if isFirst { loaded.subscriptions = subscriptions.map(\.channel) }
            for subscription in subscriptions {
                guard let broadcast = try broadcasts.broadcast(on: subscription.channel),
                    broadcast.sequence > subscription.lastSequence
                else { continue }
                loaded.messages.append(broadcast.message(for: load.session.device))
            }
        case .channel(let channel):
            loaded.subscriptions = [channel]
            let last = subscriptions.first { $0.channel == channel }?.lastSequence ?? 0
            if let broadcast = try broadcasts.broadcast(on: channel), broadcast.sequence > last {
                loaded.messages.append(broadcast.message(for: load.session.device))
            }
        }
        return loaded
    }
}
