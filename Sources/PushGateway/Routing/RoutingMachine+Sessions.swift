import Foundation
import PushTypes
import PushWire

/// Devices come, say what they want, and go.
extension RoutingMachine {
    /// A device has proved who it is. Its earlier session, if there is one, ends: the newest wins.
    mutating func connected(
        _ device: UUID,
        session id: DeviceSession.ID,
        isActive: Bool,
        link: any DeviceConnection,
        now: Timestamp,
        _ effects: inout Effects
    ) {
        if let earlier = self.sessions.session(of: device) {
            effects.closing.append(earlier.link)
            self.end(earlier, of: device, now: now, &effects)
        }
        var session = DeviceSession(device, id: id, link: link)
        session.isActive = isActive
        if !isActive { session.nextWindow = now.advanced(by: self.power.window) }
        self.sessions.put(session)
        effects.events.append(Event(.connected, device: device, time: now, environment: self.environment))
    }

    /// What the device has not acknowledged is stored as it is for a device that is offline: of each topic the newest.
    /// - Parameter keepsAll: the device is not to blame for the end: all is stored.
    /// - Returns: Whether `id` was its current session.
    mutating func disconnected(
        _ device: UUID,
        session id: DeviceSession.ID,
        keepsAll: Bool = false,
        now: Timestamp,
        _ effects: inout Effects
    ) -> Bool {
        guard let index = self.index(device, id) else { return false }
        self.end(self.sessions[index], of: device, keepsAll: keepsAll, now: now, &effects)
        self.sessions.remove(device)
        effects.events.append(Event(.disconnected, device: device, time: now, environment: self.environment))
        return true
    }

    /// The gateway ends.
    mutating func endAllSessions(now: Timestamp, _ effects: inout Effects) {
        for device in self.sessions.devices {
            guard let session = self.sessions.session(of: device) else { continue }
            effects.closing.append(session.link)
            _ = self.disconnected(device, session: session.id, keepsAll: true, now: now, &effects)
        }
    }

    private mutating func end(
        _ session: DeviceSession,
        of device: UUID,
        keepsAll: Bool = false,
        now: Timestamp,
        _ effects: inout Effects
    ) {
        for channel in session.channels { self.unfollow(channel, device) }
        self.unacknowledgedBytes -= session.unacknowledged.bytes
        let left = session.unacknowledged.inOrder
        let stored = left.filter { $0.message.expiresAt != nil && $0.message.channel == nil }
        let newest = Dictionary(stored.map { ($0.message.topicHash, $0.message.sequence) }, uniquingKeysWith: max)
        for entry in left {
            let message = entry.message
            guard message.expiresAt != nil else {
                effects.events.append(self.event(.expired, message, now))
                continue
            }
            let isKept = keepsAll || message.channel != nil || newest[message.topicHash] == message.sequence
            if isKept { effects.events.append(self.event(.storedOffline, message, now)) }
            guard let submission = entry.submission else { continue }
            // Answered with what took its place. What the store holds already, it tells itself.
            self.batch.waiters.append(submission)
            if isKept {
                self.batch.changes.append(.put(message))
            } else {
                effects.events.append(self.event(.replaced, message, now))
            }
        }
        if !stored.isEmpty, !keepsAll { self.batch.changes.append(.keepNewest(device)) }
    }

    /// The device named its topics: what is stored for them comes.
    mutating func subscribed(_ device: UUID, session id: DeviceSession.ID, to filter: DeviceLinkFilter) {
        guard let index = self.index(device, id) else { return }
        self.sessions[index].take(filter)
        self.read(.messages(isFirst: true), at: index, device)
    }

    /// The device is in use now, or is not.
    mutating func stateChanged(_ device: UUID, session id: DeviceSession.ID, isActive: Bool, now: Timestamp) {
        guard let index = self.index(device, id), self.sessions[index].isActive != isActive else { return }
        self.sessions[index].isActive = isActive
        self.sessions[index].nextWindow =
            isActive ? Timestamp(milliseconds: .max) : now.advanced(by: self.power.window)
        if isActive, self.sessions[index].hasHeld { self.read(.messages(isFirst: false), at: index, device) }
    }

    /// Time has passed: what has expired goes, devices that are not in use are woken for what may wait, and those that
    /// take up room and do not acknowledge have to come again.
    mutating func tick(now: Timestamp, _ effects: inout Effects) {
        self.batch.changes.append(.purge)
        for index in self.sessions.indices {
            if self.isStuck(index, now: now) { effects.closing.append(self.sessions[index].link) }
            let isWindow = self.sessions[index].nextWindow <= now
            if isWindow { self.sessions[index].nextWindow = now.advanced(by: self.power.window) }
            if self.sessions[index].hasHeld, isWindow || self.power.backgroundPerHour != nil {
                let device = self.sessions[index].device
                self.read(.messages(isFirst: false), at: index, device, isWindow: isWindow)
            }
        }
    }

    /// Whether the device has acknowledged nothing for too long, while it, or all devices together, may be sent no more.
    private func isStuck(_ index: Int, now: Timestamp) -> Bool {
        let (unacknowledged, limits) = (self.sessions[index].unacknowledged, self.limits)
        guard !unacknowledged.isEmpty, now.since(self.sessions[index].progressedAt) >= limits.silence else {
            return false
        }
        // Where the next large payload would find no room.
        let margin = PushType.voip.maximumPayloadSize * 2
        return unacknowledged.count >= limits.unacknowledged
            || unacknowledged.bytes + margin > limits.unacknowledgedBytes
            || self.unacknowledgedBytes + margin > limits.totalBytes
    }

    /// The app was removed from the device, or with no topic, the device is no more or all its apps are gone: what was
    /// on its way or stored is dropped.
    mutating func forget(_ topic: Topic?, of device: UUID, now: Timestamp, _ effects: inout Effects) {
        self.batch.changes.append(.discard(device: device, topic: topic))
        guard let index = self.sessions.index(of: device) else { return }
        let hash = topic.map { TopicHash($0) }
        if let hash {
            self.sessions[index].forget(hash)
        } else {
            effects.closing.append(self.sessions[index].link)
        }
        for entry in self.sessions[index].unacknowledged.inOrder where entry.isFor(hash) {
            _ = self.sessions[index].unacknowledged.remove(entry.id)
            self.unacknowledgedBytes -= entry.message.cost
            effects.events.append(self.event(.unregisteredFromStorage, entry.message, now))
            if let submission = entry.submission { effects.settled.append(submission) }
        }
        self.loadBacklog(at: index, device)
    }

    /// A read of the store failed: the device has to come again.
    func loadFailed(_ load: StoreLoad, _ effects: inout Effects) {
        guard let index = self.index(load.device, load.session) else { return }
        effects.closing.append(self.sessions[index].link)
    }

    private mutating func read(
        _ part: StoreLoad.Part,
        at index: Int,
        _ device: UUID,
        isWindow: Bool = false
    ) {
        self.sessions[index].hasHeld = false
        self.load(part, at: index, device, isWindow: isWindow)
    }
}
