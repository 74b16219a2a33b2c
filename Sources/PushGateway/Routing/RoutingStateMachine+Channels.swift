import Foundation
import PushTypes

/// Broadcasts, and the devices that follow channels (reference 4).
extension RoutingStateMachine {
    /// The device id in the events of a broadcast as a whole.
    static let allDevices = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// Sends a broadcast to all connected followers, and stores it for the others if its channel stores.
    mutating func submit(
        _ broadcast: Broadcast,
        owner: any SubmissionDelegate,
        ticket: UInt32,
        now: Timestamp
    ) -> Actions {
        var actions = Actions()
        let id = broadcast.notification.id
        actions.events.append(
            Event(
                .received,
                device: Self.allDevices,
                time: now,
                environment: self.environment,
                topic: broadcast.channel.topic,
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
            self.route(broadcast.message(for: device), at: index, now: now, &actions)
        }
        return self.completed(actions)
    }

    private mutating func route(_ message: Message, at index: Int, now: Timestamp, _ actions: inout Actions) {
        switch self.power.decision(for: message, self.sessions[index], now: now, isWindow: false) {
        case .deliver where self.hasRoom(for: message, at: index):
            self.send(message, nil, at: index, now: now, &actions)
        case .deliver where message.expiresAt == nil: actions.events.append(self.event(.expired, message, now))
        case .deliver: self.sessions[index].hasBacklog = true
        case .hold: self.sessions[index].hasHeld = true
        case .offline: break
        case .discard: actions.events.append(self.event(.disabled, message, now))
        }
    }

    /// A device wants to follow a channel.
    /// - Returns: Also whether it follows the channel now: there is a limit of channels per device.
    mutating func follow(
        _ channel: ChannelName,
        _ device: UUID,
        session id: DeviceSession.ID
    ) -> (isFollowing: Bool, actions: Actions) {
        guard let index = self.index(device, id) else { return (false, Actions()) }
        if self.sessions[index].channels.contains(channel) { return (true, Actions()) }
        // Reads in flight count too, so that no device makes the store read without end.
        guard self.sessions[index].channels.count < self.limits.channels,
            self.sessions[index].loads.count <= self.limits.channels
        else { return (false, Actions()) }
        self.sessions[index].loads.followed(channel)
        self.batch.changes.append(.subscribe(device: device, channel: channel, limit: self.limits.channels))
        self.addFollower(of: channel, at: index)
        self.load(.channel(channel), at: index)
        return (true, self.completed(Actions()))
    }

    mutating func unfollow(_ channel: ChannelName, _ device: UUID, session id: DeviceSession.ID) -> Actions {
        guard let index = self.index(device, id),
            self.sessions[index].loads.unfollowed(channel, limit: self.limits.channels)
                ?? self.sessions[index].channels.contains(channel)
        else { return Actions() }
        self.sessions[index].channels.remove(channel)
        self.followers.remove(device, from: channel)
        self.batch.changes.append(.unsubscribe(device: device, channel: channel))
        return self.completed(Actions())
    }

    /// A channel was deleted.
    mutating func channelDeleted(_ channel: ChannelName) -> Actions {
        for index in self.sessions.indices { _ = self.sessions[index].loads.unfollowed(channel, limit: .max) }
        for device in self.followers.removeAll(following: channel) {
            if let index = self.sessions.index(of: device) { self.sessions[index].channels.remove(channel) }
        }
        self.batch.changes.append(.removeChannel(channel))
        return self.completed(Actions())
    }

    mutating func addFollower(of channel: ChannelName, at index: Int) {
        self.sessions[index].channels.insert(channel)
        self.followers.add(self.sessions[index].device, to: channel)
    }
}
