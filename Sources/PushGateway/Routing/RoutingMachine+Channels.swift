import Foundation
import PushTypes

/// Broadcasts and those who follow channels (reference 4).
extension RoutingMachine {
    /// Sends a broadcast to all connected followers, and keeps it for the others if its channel stores.
    mutating func submit(
        _ broadcast: Broadcast,
        owner: any SubmissionDelegate,
        ticket: UInt32,
        now: Timestamp,
        _ effects: inout Effects
    ) {
        let id = broadcast.notification.id
        effects.events.append(
            Event(
                .received,
                device: Self.everybody,
                time: now,
                environment: self.environment,
                topic: broadcast.channel.topic,
                apnsID: id
            )
        )
        if broadcast.expiresAt != nil {
            self.batch.changes.append(.putBroadcast(broadcast))
            self.batch.waiters.append(.init(owner: owner, ticket: ticket, id: id))
        } else {
            effects.settled.append(.init(owner: owner, ticket: ticket, id: id))
        }
        for device in self.followers[broadcast.channel] ?? [] {
            guard let index = self.sessions.index(of: device) else { continue }
            self.pass(broadcast.message(for: device), at: index, now: now, &effects)
        }
    }

    private mutating func pass(
        _ message: Message,
        at index: Int,
        now: Timestamp,
        _ effects: inout Effects
    ) {
        switch self.power.verdict(on: message, for: self.sessions[index], now: now, isWindow: false) {
        case .deliver where self.hasRoom(for: message, at: index):
            self.launch(message, nil, at: index, now: now, &effects)
        case .deliver where message.expiresAt == nil: effects.events.append(self.event(.expired, message, now))
        case .deliver: self.sessions[index].hasBacklog = true
        case .hold: self.sessions[index].hasHeld = true
        case .offline: break
        case .discard: effects.events.append(self.event(.disabled, message, now))
        }
    }

    /// What stands for the device in the events of a broadcast as a whole.
    static let everybody = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// The device follows a channel from now on. `false` when it follows too many.
    mutating func follow(_ channel: ChannelName, _ device: UUID, session id: DeviceSession.ID, now: Timestamp) -> Bool {
        guard let index = self.index(device, id) else { return false }
        if self.sessions[index].channels.contains(channel) { return true }
        // Reads that have not come back count too, so that no device makes the store read without end.
        guard self.sessions[index].channels.count < self.limits.channels,
            self.sessions[index].loads <= self.limits.channels
        else { return false }
        self.sessions[index].unfollowed.remove(channel)
        self.batch.changes.append(.subscribe(device: device, channel: channel, limit: self.limits.channels))
        self.follow(channel, at: index, device)
        self.load(.channel(channel), at: index, device)
        return true
    }

    mutating func unfollow(_ channel: ChannelName, _ device: UUID, session id: DeviceSession.ID) {
        guard let index = self.index(device, id) else { return }
        guard self.sessions[index].channels.contains(channel) || self.sessions[index].isLoading else { return }
        if self.sessions[index].isLoading {
            guard self.sessions[index].unfollowed.count < self.limits.channels else { return }
            self.sessions[index].unfollowed.insert(channel)
        }
        self.sessions[index].channels.remove(channel)
        self.unfollow(channel, device)
        self.batch.changes.append(.unsubscribe(device: device, channel: channel))
    }

    /// The channel is no more.
    mutating func remove(_ channel: ChannelName) {
        for index in self.sessions.indices where self.sessions[index].isLoading {
            self.sessions[index].unfollowed.insert(channel)
        }
        for device in self.followers.removeValue(forKey: channel) ?? [] {
            if let index = self.sessions.index(of: device) { self.sessions[index].channels.remove(channel) }
        }
        self.batch.changes.append(.removeChannel(channel))
    }

    mutating func follow(_ channel: ChannelName, at index: Int, _ device: UUID) {
        self.sessions[index].channels.insert(channel)
        self.followers[channel, default: []].insert(device)
    }

    mutating func unfollow(_ channel: ChannelName, _ device: UUID) {
        self.followers[channel]?.remove(device)
        if self.followers[channel]?.isEmpty == true { self.followers[channel] = nil }
    }
}
