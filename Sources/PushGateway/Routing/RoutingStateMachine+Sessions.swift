import Foundation
import PushTypes
import PushWire

/// The sessions of devices, from connection to end.
extension RoutingStateMachine {
    /// A device was authenticated. Its earlier session, if there is one, is closed: the newest wins.
    mutating func connected(_ device: UUID, session id: DeviceSession.ID, isActive: Bool, now: Timestamp) -> Actions {
        var actions = Actions()
        if let earlier = self.sessions.session(of: device) {
            actions.closing.append(earlier.id)
            self.end(earlier, now: now, &actions)
        }
        var session = DeviceSession(device, id: id)
        session.isActive = isActive
        if !isActive { session.nextWindow = now.advanced(by: self.power.window) }
        self.sessions.put(session)
        actions.events.append(Event(.connected, device: device, time: now, environment: self.environment))
        return self.completed(actions)
    }

    /// A connection has ended. Unacknowledged messages are stored as for an offline device: of each topic the newest.
    /// - Returns: Also whether the session was the device's current one.
    mutating func disconnected(
        _ device: UUID,
        session id: DeviceSession.ID,
        now: Timestamp
    ) -> (wasCurrent: Bool, actions: Actions) {
        guard let index = self.index(device, id) else { return (false, Actions()) }
        var actions = Actions()
        self.remove(self.sessions[index], now: now, &actions)
        return (true, self.completed(actions))
    }

    /// The gateway ends: all unacknowledged messages are stored, because no device is to blame for the end.
    mutating func endAllSessions(now: Timestamp) -> Actions {
        var actions = Actions()
        for device in self.sessions.devices {
            guard let session = self.sessions.session(of: device) else { continue }
            actions.closing.append(session.id)
            self.remove(session, keepsAll: true, now: now, &actions)
        }
        return self.completed(actions)
    }

    private mutating func remove(
        _ session: DeviceSession,
        keepsAll: Bool = false,
        now: Timestamp,
        _ actions: inout Actions
    ) {
        self.end(session, keepsAll: keepsAll, now: now, &actions)
        self.sessions.remove(session.device)
        actions.events.append(Event(.disconnected, device: session.device, time: now, environment: self.environment))
    }

    private mutating func end(
        _ session: DeviceSession,
        keepsAll: Bool = false,
        now: Timestamp,
        _ actions: inout Actions
    ) {
        for channel in session.channels { self.followers.remove(session.device, from: channel) }
        self.unacknowledgedBytes -= session.unacknowledged.bytes
        let remainder = session.unacknowledged.inOrder
        let stored = remainder.filter { $0.message.expiresAt != nil && $0.message.channel == nil }
        let newest = Dictionary(stored.map { ($0.message.topicHash, $0.message.sequence) }, uniquingKeysWith: max)
        for entry in remainder {
            let message = entry.message
            guard message.expiresAt != nil else {
                actions.events.append(self.event(.expired, message, now))
                continue
            }
            let isKept = keepsAll || message.channel != nil || newest[message.topicHash] == message.sequence
            if isKept { actions.events.append(self.event(.storedOffline, message, now)) }
            guard let submission = entry.submission else { continue }
            // Accepted together with the message that replaces it. Messages in the store get their event from the
            // store.
            self.batch.submissions.append(submission)
            if isKept {
                self.batch.changes.append(.put(message))
            } else {
                actions.events.append(self.event(.replaced, message, now))
            }
        }
        if !stored.isEmpty, !keepsAll { self.batch.changes.append(.keepNewest(session.device)) }
    }

    /// The device has sent its filter: the stored messages of its topics are read.
    mutating func subscribed(_ device: UUID, session id: DeviceSession.ID, to filter: DeviceLinkFilter) -> Actions {
        guard let index = self.index(device, id) else { return Actions() }
        self.sessions[index].setFilter(filter)
        self.loadHeld(.messages(isFirst: true), at: index)
        return self.completed(Actions())
    }

    /// The device is in use from now on, or is not.
    mutating func stateChanged(
        _ device: UUID,
        session id: DeviceSession.ID,
        isActive: Bool,
        now: Timestamp
    ) -> Actions {
        guard let index = self.index(device, id), self.sessions[index].isActive != isActive else { return Actions() }
        self.sessions[index].isActive = isActive
        self.sessions[index].nextWindow =
            isActive ? Timestamp(milliseconds: .max) : now.advanced(by: self.power.window)
        if isActive, self.sessions[index].hasHeld { self.loadHeld(.messages(isFirst: false), at: index) }
        return self.completed(Actions())
    }

    /// Removes expired messages, delivers held messages to devices whose window has come, and disconnects devices that
    /// have used up a limit and do not acknowledge. Called from time to time.
    mutating func tick(now: Timestamp) -> Actions {
        var actions = Actions()
        self.batch.changes.append(.purge)
        for index in self.sessions.indices {
            if self.isStuck(index, now: now) { actions.closing.append(self.sessions[index].id) }
            let isWindow = self.sessions[index].nextWindow <= now
            if isWindow { self.sessions[index].nextWindow = now.advanced(by: self.power.window) }
            if self.sessions[index].hasHeld, isWindow || self.power.backgroundPerHour != nil {
                self.loadHeld(.messages(isFirst: false), at: index, isWindow: isWindow)
            }
        }
        return self.completed(actions)
    }

    /// Returns whether the device has acknowledged nothing for too long, while it, or all devices together, may be sent
    /// no more.
    private func isStuck(_ index: Int, now: Timestamp) -> Bool {
        let (unacknowledged, limits) = (self.sessions[index].unacknowledged, self.limits)
        guard !unacknowledged.isEmpty, now.since(self.sessions[index].progressedAt) >= limits.silence else {
            return false
        }
        // The room that the next large payload would need.
        let margin = PushType.voip.maximumPayloadSize * 2
        return unacknowledged.count >= limits.unacknowledged
            || unacknowledged.bytes + margin > limits.unacknowledgedBytes
            || self.unacknowledgedBytes + margin > limits.totalBytes
    }

    /// An app was removed from a device: its messages are discarded, those in flight and those in the store.
    /// - Parameter topic: `nil` if the device was deleted or installed anew: that ends its connection.
    mutating func removed(_ topic: Topic?, from device: UUID, now: Timestamp) -> Actions {
        var actions = Actions()
        self.batch.changes.append(.discard(device: device, topic: topic))
        guard let index = self.sessions.index(of: device) else { return self.completed(actions) }
        let hash = topic.map { TopicHash($0) }
        if let hash {
            self.sessions[index].removeTopic(hash)
        } else {
            actions.closing.append(self.sessions[index].id)
        }
        for entry in self.sessions[index].unacknowledged.inOrder where entry.isFor(hash) {
            _ = self.sessions[index].unacknowledged.remove(entry.id)
            self.unacknowledgedBytes -= entry.message.cost
            actions.events.append(self.event(.unregisteredFromStorage, entry.message, now))
            if let submission = entry.submission { actions.accepted.append(submission) }
        }
        self.loadBacklog(at: index)
        return self.completed(actions)
    }
}
