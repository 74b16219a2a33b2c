import PushTypes

/// The groups of the router.
extension GatewayTables {
    /// The most expired messages that one group removes.
    private static let expiryBatch = 2000

    /// Writes the changes of a group in their order, and then reads.
    func perform(_ batch: StoreBatch, in environment: PushEnvironment, now: Timestamp) throws -> StoreBatch.Outcome {
        var outcome = StoreBatch.Outcome()
        let (messages, broadcasts) = (self.messages(environment), self.broadcasts(environment))
        for change in batch.changes { outcome.events += try Self.perform(change, messages, broadcasts, now: now) }
        for load in batch.loads { outcome.loaded.append(try Self.perform(load, messages, broadcasts)) }
        return outcome
    }

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
        case .advance(let device, let channel, let sequence):
            try broadcasts.advance(device, on: channel, to: sequence)
        case .subscribe(let device, let channel, let limit):
            try broadcasts.subscribe(device, to: channel, limit: limit)
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
