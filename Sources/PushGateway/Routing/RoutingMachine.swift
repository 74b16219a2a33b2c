import Foundation
import PushTypes

/// Decides where a message goes: which devices are connected, what they want, what they have not acknowledged, what is
/// written and who may be answered.
///
/// No I/O: ``MessageRouter`` owns the lock, the store and the links, and does what ``Effects`` and ``takeBatch()`` say.
struct RoutingMachine: Sendable {
    struct Limits: Hashable, Sendable {
        /// Messages that a device may leave unacknowledged. A push beyond that is refused; what comes from the store waits
        /// there.
        var unacknowledged = 2000
        /// What they may count together, see ``Message/cost``: at least 1000 of the largest payload.
        var unacknowledgedBytes = 8 * 1024 * 1024
        /// What those of all devices may count before pushes are refused.
        var totalBytes = 256 * 1024 * 1024
        /// A device that blocks others or itself by having acknowledged nothing for so long is disconnected.
        var silence: Duration = .seconds(60)
        /// Channels that one device may follow.
        var channels = 100
    }

    /// What is to be done at once.
    struct Effects {
        var packets: [(link: any DeviceConnection, packet: DevicePacket)] = []
        var settled: [StoreBatch.Waiter] = []
        /// Pushes that found no room.
        var refused: [StoreBatch.Waiter] = []
        var events: [Event] = []
        var closing: [any DeviceConnection] = []
    }

    let environment: PushEnvironment
    let limits: Limits
    let power: PowerRules
    var sessions = SessionTable()
    /// Who follows a channel, among the connected devices.
    var followers: [ChannelName: Set<UUID>] = [:]
    var batch = StoreBatch()
    /// The bytes that all devices have not acknowledged.
    var unacknowledgedBytes = 0
    /// Counts the windows that have passed.
    var window = 0
    /// Devices that were sent something in this window, and in the one before.
    var recent: [UUID] = []
    var waiting: [UUID] = []

    init(environment: PushEnvironment, limits: Limits, power: PowerRules) {
        self.environment = environment
        self.limits = limits
        self.power = power
    }

    /// What is to be written; `nil` when there is nothing.
    mutating func takeBatch() -> StoreBatch? {
        guard !self.batch.isEmpty else { return nil }
        defer { self.batch = StoreBatch() }
        return self.batch
    }

    // MARK: Pushes

    /// Delivers, stores, discards or refuses a push. Its owner is answered once the device has it or the store has it.
    mutating func submit(_ submission: Submission, sequence: Int64, now: Timestamp, _ effects: inout Effects) {
        let push = submission.push
        let message = Message(
            sequence: sequence,
            device: push.device,
            token: push.token.bytes,
            notification: push.notification,
            topicHash: push.topicHash,
            acceptedAt: now,
            expiresAt: push.notification.expiration.storageEnd(acceptedAt: now)
        )
        let index = self.sessions.index(of: message.device)
        if let index, self.refuses(message, at: index, now: now) {
            effects.events.append(self.event(.refusedTooMany, message, now))
            return effects.refused.append(submission.waiter)
        }
        effects.events.append(self.event(.received, message, now))
        if message.isExpired(at: now) {
            effects.events.append(self.event(.expired, message, now))
            return effects.settled.append(submission.waiter)
        }
        guard let index else { return self.keep(message, submission, as: .storedOffline, now: now, &effects) }
        self.route(message, submission, at: index, now: now, &effects)
    }

    /// Whether the device is there for the message but has too much on its way: to store it would put it in the place
    /// of another one that the device is still to get.
    private func refuses(_ message: Message, at index: Int, now: Timestamp) -> Bool {
        let hasRoom =
            self.hasRoom(for: message, at: index)
            && self.unacknowledgedBytes + message.cost <= self.limits.totalBytes
        guard !hasRoom, !message.isExpired(at: now) else { return false }
        return self.power.verdict(on: message, for: self.sessions[index], now: now, isWindow: false) == .deliver
    }

    /// Whether the device may leave one more message unacknowledged.
    func hasRoom(for message: Message, at index: Int) -> Bool {
        self.sessions[index].unacknowledged.count < self.limits.unacknowledged
            && self.sessions[index].unacknowledged.bytes + message.cost <= self.limits.unacknowledgedBytes
    }

    private mutating func route(
        _ message: Message,
        _ submission: Submission,
        at index: Int,
        now: Timestamp,
        _ effects: inout Effects
    ) {
        // One that is not stored takes no stored one's place.
        if self.sessions[index].isLoading, message.expiresAt != nil {
            self.sessions[index].newest[message.topicHash] = message.sequence
        }
        switch self.power.verdict(on: message, for: self.sessions[index], now: now, isWindow: false) {
        case .deliver: self.launch(message, submission, at: index, now: now, &effects)
        case .offline: self.keep(message, submission, as: .storedUnfiltered, now: now, &effects)
        case .hold:
            self.sessions[index].hasHeld = true
            self.keep(message, submission, as: .storedPower, now: now, &effects)
        case .discard:
            effects.events.append(self.event(.disabled, message, now))
            effects.settled.append(submission.waiter)
        }
    }

    /// Stores a message that cannot be delivered now, if it may be stored. The newest of a topic takes the place of what
    /// waits there, but not of what is on its way.
    private mutating func keep(
        _ message: Message,
        _ submission: Submission,
        as name: Event.Name,
        now: Timestamp,
        _ effects: inout Effects
    ) {
        guard message.expiresAt != nil else {
            effects.events.append(self.event(.expired, message, now))
            return effects.settled.append(submission.waiter)
        }
        effects.events.append(self.event(name, message, now))
        self.batch.changes.append(.putNewest(message, beside: self.onTheirWay(before: message)))
        self.batch.waiters.append(submission.waiter)
    }

    /// Older messages of this one's topic that the device was sent and the store holds.
    func onTheirWay(before message: Message) -> Set<Int64> {
        guard let index = self.sessions.index(of: message.device), !self.sessions[index].unacknowledged.isEmpty else {
            return []
        }
        let entries = self.sessions[index].unacknowledged.filter { entry in
            entry.isStored && entry.isFor(message.topicHash) && entry.message.sequence < message.sequence
        }
        return Set(entries.map(\.message.sequence))
    }

    /// Sends a message to its device.
    mutating func launch(
        _ message: Message,
        _ submission: Submission?,
        at index: Int,
        isFromStorage: Bool = false,
        now: Timestamp,
        _ effects: inout Effects
    ) {
        // Only what is needed is copied: a copy of the session would make the list below be copied with every message.
        let (id, link) = (self.sessions[index].nextMessageID, self.sessions[index].link)
        self.sessions[index].nextMessageID = id == .max ? 1 : id + 1
        var entry = DeviceSession.InFlight(
            id: id,
            message: message,
            isFromStorage: isFromStorage,
            isStored: isFromStorage,
            window: self.window
        )
        if let submission {
            if message.expiresAt == nil {
                effects.settled.append(submission.waiter)
            } else {
                entry.submission = submission.waiter
                self.awaitWindow(message.device, at: index)
            }
        }
        if self.sessions[index].unacknowledged.isEmpty { self.sessions[index].progressedAt = now }
        self.sessions[index].unacknowledged.add(entry)
        self.unacknowledgedBytes += message.cost
        if self.power.backgroundPerHour != nil, message.notification.pushType == .background {
            self.sessions[index].noteBackground(message.topicHash, now: now)
        }
        effects.packets.append((link, .message(message, id: id)))
    }

    func event(_ name: Event.Name, _ message: Message, _ now: Timestamp) -> Event {
        Event(name, message, self.environment, time: now)
    }

    /// A message that is on its way.
    func message(_ id: UInt32, _ device: UUID, session: DeviceSession.ID) -> Message? {
        guard let index = self.index(device, session) else { return nil }
        return self.sessions[index].unacknowledged[id]?.message
    }

    /// The place of the device's session, if `id` is still its current one.
    func index(_ device: UUID, _ id: DeviceSession.ID) -> Int? {
        guard let index = self.sessions.index(of: device), self.sessions[index].id == id else { return nil }
        return index
    }
}
