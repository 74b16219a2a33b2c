import Foundation
import PushTypes
import PushWire

extension RoutingStateMachine {
    /// Begins the session of an authenticated device. Its earlier session, if there is one, is closed.
    mutating func connected(_ id: DeviceSession.ID, isActive: Bool, _ actions: inout Actions) {
        if let earlier = self.sessions.session(of: id.device) {
            actions.closing.append(earlier.id)
            self.end(earlier, &actions)
        }
        var session = DeviceSession(id)
        session.isActive = isActive
        if !isActive { session.nextWindow = actions.now.advanced(by: self.power.window) }
        self.sessions.put(session)
        self.log(.connected, id.device, &actions)
    }

    private func log(_ name: Event.Name, _ device: UUID, _ actions: inout Actions) {
        actions.events.append(Event(name, device: device, time: actions.now, environment: self.environment))
    }

    /// Ends the session of a closed connection. Of its unacknowledged messages, the newest of each topic is stored.
    /// - Returns: Whether the session was the device's current one.
    mutating func disconnected(_ id: DeviceSession.ID, _ actions: inout Actions) -> Bool {
        guard let index = self.index(of: id) else { return false }
        self.remove(self.sessions[index], &actions)
        return true
    }

    /// Ends all sessions at shutdown. All unacknowledged messages are stored, because the devices did not disconnect.
    mutating func endAllSessions(_ actions: inout Actions) {
        for device in self.sessions.devices {
            guard let session = self.sessions.session(of: device) else { continue }
            actions.closing.append(session.id)
            self.remove(session, keepsAll: true, &actions)
        }
    }

    private mutating func remove(_ session: DeviceSession, keepsAll: Bool = false, _ actions: inout Actions) {
        self.end(session, keepsAll: keepsAll, &actions)
        self.sessions.remove(session.device)
        self.log(.disconnected, session.device, &actions)
    }

    private mutating func end(_ session: DeviceSession, keepsAll: Bool = false, _ actions: inout Actions) {
        for channel in session.channels { self.followers.remove(session.device, from: channel) }
        self.unacknowledgedBytes -= session.unacknowledged.bytes
        let remainder = session.unacknowledged.inOrder
        let stored = remainder.filter { $0.message.expiresAt != nil && $0.message.channel == nil }
        let newest = Dictionary(stored.map { ($0.message.topicHash, $0.message.sequence) }, uniquingKeysWith: max)
        for entry in remainder {
            let message = entry.message
            guard message.expiresAt != nil else {
                self.log(.expired, message, &actions)
                continue
            }
            let isKept = keepsAll || message.channel != nil || newest[message.topicHash] == message.sequence
            if isKept { self.log(.storedOffline, message, &actions) }
            guard let submission = entry.submission else { continue }
            // Accepted together with the message that replaces it. Messages in the store get their event from the
            // store.
            self.batch.submissions.append(submission)
            if isKept {
                self.batch.changes.append(.put(message))
            } else {
                self.log(.replaced, message, &actions)
            }
        }
        if !stored.isEmpty, !keepsAll { self.batch.changes.append(.keepNewest(session.device)) }
    }

    /// Applies the filter of a device, and reads the stored messages of its topics.
    mutating func subscribed(_ id: DeviceSession.ID, to filter: DeviceLinkFilter) {
        guard let index = self.index(of: id) else { return }
        self.sessions[index].setFilter(filter)
        self.loadHeld(.messages(isFirst: true), at: index)
    }

    /// Records whether a device is in use. When it is used again, its held messages are read.
    mutating func stateChanged(_ id: DeviceSession.ID, isActive: Bool, now: Timestamp) {
        guard let index = self.index(of: id), self.sessions[index].isActive != isActive else { return }
        self.sessions[index].isActive = isActive
        self.sessions[index].nextWindow =
            isActive ? Timestamp(milliseconds: .max) : now.advanced(by: self.power.window)
        if isActive, self.sessions[index].hasHeld { self.loadHeld(.messages(isFirst: false), at: index) }
    }

    /// Removes expired messages, delivers held messages to devices whose wake-up time has come, and disconnects devices
    /// that have used up a limit and do not acknowledge. This method is called at intervals.
    mutating func tick(_ actions: inout Actions) {
        self.batch.changes.append(.purge)
        for index in self.sessions.indices {
            if self.isStuck(index, now: actions.now) { actions.closing.append(self.sessions[index].id) }
            let isWindow = self.sessions[index].nextWindow <= actions.now
            if isWindow { self.sessions[index].nextWindow = actions.now.advanced(by: self.power.window) }
            if self.sessions[index].hasHeld, isWindow || self.power.backgroundPerHour != nil {
                self.loadHeld(.messages(isFirst: false), at: index, isWindow: isWindow)
            }
        }
    }

    /// Returns whether the device is to be disconnected: it has acknowledged nothing for too long, while its own limit
    /// or the total limit prevents further messages.
    private func isStuck(_ index: Int, now: Timestamp) -> Bool {
        let (unacknowledged, limits) = (self.sessions[index].unacknowledged, self.limits)
        guard !unacknowledged.isEmpty, now.since(self.sessions[index].progressedAt) >= limits.silence else {
            return false
        }
        // The room that the next large payload would need.
        let margin = PushType.voip.maximumPayloadSize * 2
        return unacknowledged.count >= limits.unacknowledged
            || unacknowledged.bytes + margin > min(limits.unacknowledgedBytes, self.freeBytes)
    }

    /// Discards the messages for an app that was removed from a device, both in flight and stored.
    /// - Parameter topic: The app, or `nil` for all apps of a deleted or reinstalled device, whose connection is
    ///   closed.
    mutating func removed(_ topic: Topic?, from device: UUID, _ actions: inout Actions) {
        self.batch.changes.append(.discard(device: device, topic: topic))
        guard let index = self.sessions.index(of: device) else { return }
        let hash = topic.map { TopicHash($0) }
        if let hash {
            self.sessions[index].removeTopic(hash)
        } else {
            actions.closing.append(self.sessions[index].id)
        }
        for entry in self.sessions[index].unacknowledged.inOrder where entry.isFor(hash) {
            _ = self.sessions[index].unacknowledged.remove(entry.id)
            self.unacknowledgedBytes -= entry.message.cost
            self.log(.unregisteredFromStorage, entry.message, &actions)
            if let submission = entry.submission { actions.accepted.append(submission) }
        }
        self.loadBacklog(at: index)
    }
}

/// The handling of broadcasts, and of the devices that follow channels (reference 4).
extension RoutingStateMachine {
    /// The device id in events that concern a broadcast and not one device.
    static let allDevices = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// Sends a broadcast to all connected followers, and stores it for offline ones if the channel's policy allows it.
    /// - Parameter ticket: The number by which `owner` recognizes the result.
    mutating func submit(
        _ broadcast: SequencedBroadcast,
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
        case .deliver where self.hasRoom(for: message, at: index): self.send(message, nil, at: index, &actions)
        case .deliver where message.expiresAt == nil: self.log(.expired, message, &actions)
        case .deliver: self.sessions[index].hasBacklog = true
        case .hold: self.sessions[index].hasHeld = true
        case .offline: break
        case .discard: self.log(.disabled, message, &actions)
        }
    }

    /// Adds a device to the followers of a channel.
    /// - Returns: `false` if the session is over or the device follows too many channels.
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

    /// Removes the followers and the stored broadcast of a deleted channel.
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
