import Foundation
import PushTypes

/// Broadcasts, and the devices that follow channels (reference 4).
extension RoutingStateMachine {
    /// The device id in the events of a broadcast as a whole.
    static let allDevices = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// Sends a broadcast to all connected followers, and stores it for the others if its channel stores.
    mutating func submit(
        _ broadcast: ChannelBroadcast,
        owner: any SubmissionDelegate,
        ticket: UInt32,
        _ actions: inout Actions
    ) {
        let (id, topic) = (broadcast.notification.id, broadcast.channel.topic)
        actions.events.append(
            Event(
                .received,
                device: Self.allDevices,
                time: actions.now,
                environment: self.environment,
                topic: topic,
                apnsID: id
            )
        )
        let submission = PendingSubmission(owner: owner, ticket: ticket, id: id)
        if broadcast.expiresAt != nil {
            self.batch.changes.append(.putBroadcast(broadcast))
            self.batch.submissions.append(submission)
        } else {
            actions.accepted.append(submission)
        }
        for device in self.followers.devices(following: broadcast.channel) {
            guard let index = self.sessions.index(of: device) else { continue }
            self.route(broadcast.message(for: device), at: index, &actions)
        }
    }

    private mutating func route(_ message: Message, at index: Int, _ actions: inout Actions) {
        switch self.power.decision(for: message, self.sessions[index], now: actions.now, isWindow: false) {
        case .deliver where self.hasRoom(for: message, at: index):
            self.send(message, nil, at: index, &actions)
        case .deliver where message.expiresAt == nil: self.log(.expired, message, &actions)
        case .deliver: self.sessions[index].hasBacklog = true
        case .hold: self.sessions[index].hasHeld = true
        case .offline: break
        case .discard: self.log(.disabled, message, &actions)
        }
    }

    /// A device wants to follow a channel.
    /// - Returns: Whether it follows the channel now: there is a limit of channels per device.
    mutating func follow(_ channel: ChannelName, _ id: DeviceSession.ID) -> Bool {
        guard let index = self.index(of: id) else { return false }
        if self.sessions[index].channels.contains(channel) { return true }
        // Reads in flight count too, so that no device makes the store read without end.
        guard self.sessions[index].channels.count < self.limits.channels,
            self.sessions[index].loads.count <= self.limits.channels
        else { return false }
        self.sessions[index].loads.followed(channel)
        self.batch.changes.append(.subscribe(device: id.device, channel: channel, limit: self.limits.channels))
        self.addFollower(of: channel, at: index)
        self.load(.channel(channel), at: index)
        return true
    }

    mutating func unfollow(_ channel: ChannelName, _ id: DeviceSession.ID) {
        guard let index = self.index(of: id),
            self.sessions[index].loads.unfollowed(channel, limit: self.limits.channels)
                ?? self.sessions[index].channels.contains(channel)
        else { return }
        self.sessions[index].channels.remove(channel)
        self.followers.remove(id.device, from: channel)
        self.batch.changes.append(.unsubscribe(device: id.device, channel: channel))
    }

    /// A channel was deleted.
    mutating func channelDeleted(_ channel: ChannelName) {
        for index in self.sessions.indices { _ = self.sessions[index].loads.unfollowed(channel, limit: .max) }
        for device in self.followers.removeAll(following: channel) {
            if let index = self.sessions.index(of: device) { self.sessions[index].channels.remove(channel) }
        }
        self.batch.changes.append(.removeChannel(channel))
    }

    mutating func addFollower(of channel: ChannelName, at index: Int) {
        self.sessions[index].channels.insert(channel)
        self.followers.add(self.sessions[index].device, to: channel)
    }
}
