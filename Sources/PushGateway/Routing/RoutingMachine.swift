import Foundation
import PushProtocol

/// Decides where a message goes: which devices are connected, what they want, what they have not acknowledged, what is
/// written and who may be answered.
///
/// No I/O: ``Router`` owns the lock, the store and the links, and does what ``Effects`` and ``takeBatch()`` say.
struct RoutingMachine: Sendable {
    struct Limits: Hashable, Sendable {
        /// Messages that a device may leave unacknowledged; more wait in the store.
        var unacknowledged = 100
        /// Channels that one device may follow.
        var channels = 100
    }

    /// What is to be done at once.
    struct Effects {
        var packets: [(link: any DeviceLink, packet: DevicePacket)] = []
        var settled: [StoreBatch.Waiter] = []
        var events: [Event] = []
        var closing: [any DeviceLink] = []
    }

    let environment: PushEnvironment
    let limits: Limits
    let power: PowerRules
    var sessions = SessionTable()
    /// Who follows a channel, among the connected devices.
    var followers: [ChannelName: Set<UUID>] = [:]
    var batch = StoreBatch()
    /// Sent to devices and not acknowledged yet: since the last window, and since the one before.
    private var recent: [(device: UUID, sequence: Int64)] = []
    private var waiting: [(device: UUID, sequence: Int64)] = []

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

    /// Delivers, stores or discards a push. Its owner is answered once the device has it or the store has it.
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
        effects.events.append(self.event(.received, message, now))
        if message.isExpired(at: now) {
            effects.events.append(self.event(.expired, message, now))
            return effects.settled.append(submission.waiter)
        }
        self.route(message, submission, now: now, &effects)
    }

    private mutating func route(_ message: Message, _ submission: Submission, now: Timestamp, _ effects: inout Effects)
    {
        guard let index = self.sessions.index(of: message.device) else {
            return self.keep(message, submission, as: .storedOffline, now: now, &effects)
        }
        // One that is not stored takes no stored one's place.
        if self.sessions[index].isLoading, message.expiresAt != nil {
            self.sessions[index].newest[message.topicHash] = message.sequence
        }
        switch self.power.verdict(on: message, for: self.sessions[index], now: now, isWindow: false) {
        case .deliver where self.sessions[index].unacknowledged.count < self.limits.unacknowledged:
            self.launch(message, submission, at: index, now: now, &effects)
        case .deliver:
            self.sessions[index].hasBacklog = true
            self.keep(message, submission, as: .storedOffline, now: now, &effects)
        case .offline:
            self.keep(message, submission, as: .storedOffline, now: now, &effects)
        case .hold:
            self.sessions[index].hasHeld = true
            self.keep(message, submission, as: .storedPower, now: now, &effects)
        case .discard:
            effects.events.append(self.event(.disabled, message, now))
            effects.settled.append(submission.waiter)
        }
    }

    /// Stores a message that cannot be delivered now, if it may be stored.
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
        self.batch.changes.append(.put(message))
        self.batch.waiters.append(submission.waiter)
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
            isStored: isFromStorage
        )
        if let submission {
            if message.expiresAt == nil {
                effects.settled.append(submission.waiter)
            } else {
                entry.submission = submission.waiter
                self.recent.append((message.device, message.sequence))
            }
        }
        self.sessions[index].unacknowledged.append(entry)
        if self.power.backgroundPerHour != nil, message.notification.pushType == .background {
            self.sessions[index].noteBackground(message.topicHash, now: now)
        }
        effects.packets.append((link, .message(message, id: id)))
    }

    // MARK: Acknowledgements

    /// Whether something is on its way whose owner waits for an answer.
    var awaitsWindow: Bool { !self.recent.isEmpty || !self.waiting.isEmpty }

    /// A window has passed: what was sent before the last one and is not acknowledged yet goes to the store, so that its
    /// owner does not wait longer for a slow device.
    mutating func windowPassed() {
        for (device, sequence) in self.waiting {
            guard let index = self.sessions.index(of: device),
                let position = self.sessions[index].unacknowledged.firstIndex(where: {
                    $0.message.sequence == sequence
                })
            else { continue }
            let entry = self.sessions[index].unacknowledged[position]
            guard let submission = entry.submission else { continue }
            self.sessions[index].unacknowledged[position].submission = nil
            self.sessions[index].unacknowledged[position].isStored = true
            self.batch.changes.append(.put(entry.message))
            self.batch.waiters.append(submission)
        }
        self.waiting = self.recent
        self.recent = []
    }

    /// The device has these messages, or will not have them: they leave the store. What waited for room comes next.
    mutating func acknowledged(
        _ device: UUID,
        session id: DeviceSession.ID,
        _ acks: [CourierMessageAck],
        now: Timestamp,
        _ effects: inout Effects
    ) {
        guard let index = self.index(device, id) else { return }
        for ack in acks {
            guard let done = self.sessions[index].removeUnacknowledged(ack.messageID) else { continue }
            if self.sessions[index].isLoading {
                self.sessions[index].acknowledgedMeanwhile.insert(done.message.sequence)
            }
            let delivered: Event.Name = done.isFromStorage ? .deliveredFromStorage : .delivered
            effects.events.append(self.event(ack.status == 0 ? delivered : .refusedByDevice, done.message, now))
            if let submission = done.submission { effects.settled.append(submission) }
            if let channel = done.message.channel {
                guard done.message.expiresAt != nil else { continue }
                self.batch.changes.append(.advance(device: device, channel: channel, sequence: done.message.sequence))
            } else if done.isStored || self.sessions[index].hasBacklog || self.sessions[index].hasHeld {
                // Also where an older one of its topic may wait in the store.
                self.batch.changes.append(.remove(done.message))
            }
        }
        self.loadBacklog(at: index, device)
    }

    /// Fetches what waited for room, once there is some.
    mutating func loadBacklog(at index: Int, _ device: UUID) {
        let hasRoom = self.sessions[index].unacknowledged.count <= self.limits.unacknowledged / 2
        guard self.sessions[index].hasBacklog, hasRoom else { return }
        self.sessions[index].hasBacklog = false
        self.load(.messages(isFirst: false), at: index, device)
    }

    // MARK: What was stored

    mutating func load(
        _ part: StoreLoad.Part,
        at index: Int,
        _ device: UUID,
        isWindow: Bool = false
    ) {
        var load = StoreLoad(device: device, session: self.sessions[index].id, part: part, isWindow: isWindow)
        if case .messages(let isFirst) = part {
            // However often a device asks, the store is read for it once at a time, and once more after that.
            guard !self.sessions[index].isLoadingMessages else {
                let again = self.sessions[index].loadsAgain
                load.part = .messages(isFirst: isFirst || again?.part == .messages(isFirst: true))
                load.isWindow = isWindow || again?.isWindow ?? false
                return self.sessions[index].loadsAgain = load
            }
            self.sessions[index].isLoadingMessages = true
        }
        self.sessions[index].loads += 1
        self.batch.loads.append(load)
    }

    /// Delivers what was read, and says for which of the device's topics nothing was.
    mutating func loaded(
        _ loaded: LoadedMessages,
        isInstalled: (Message) -> Bool,
        now: Timestamp,
        _ effects: inout Effects
    ) {
        guard let index = self.index(loaded.load.device, loaded.load.session) else { return }
        self.sessions[index].loads -= 1
        for channel in loaded.subscriptions where !self.sessions[index].unfollowed.contains(channel) {
            self.follow(channel, at: index, loaded.load.device)
        }
        var kept: Set<TopicHash> = []
        for message in loaded.messages {
            if self.offer(message, at: index, loaded.load, isInstalled: isInstalled, now: now, &effects) {
                kept.insert(message.topicHash)
            }
        }
        self.readAgain(after: loaded.load, at: index)
        guard loaded.load.part == .messages(isFirst: true) else { return }
        let session = self.sessions[index]
        let nothing = session.topics.filter { $0.interest != .ignored && !kept.contains($0.hash) }.map(\.hash)
        if !nothing.isEmpty { effects.packets.append((session.link, .nothingStored(nothing))) }
    }

    /// A read has come back: what was asked for meanwhile is read now.
    private mutating func readAgain(after load: StoreLoad, at index: Int) {
        if case .messages = load.part {
            self.sessions[index].isLoadingMessages = false
            if let again = self.sessions[index].loadsAgain {
                self.sessions[index].loadsAgain = nil
                self.load(again.part, at: index, load.device, isWindow: again.isWindow)
            }
        }
        guard !self.sessions[index].isLoading else { return }
        self.sessions[index].newest = [:]
        self.sessions[index].acknowledgedMeanwhile = []
        self.sessions[index].unfollowed = []
    }

    /// Delivers one stored message, or lets it wait, or drops it. Whether there was something for its topic.
    private mutating func offer(
        _ message: Message,
        at index: Int,
        _ load: StoreLoad,
        isInstalled: (Message) -> Bool,
        now: Timestamp,
        _ effects: inout Effects
    ) -> Bool {
        let session = self.sessions[index]
        if session.unacknowledged.contains(where: { $0.message.sequence == message.sequence })
            || session.acknowledgedMeanwhile.contains(message.sequence)
        {
            return true
        }
        if let channel = message.channel, session.unfollowed.contains(channel) { return false }
        if message.isExpired(at: now) { return self.drop(message, .expired, now, &effects) }
        if message.channel == nil {
            if !isInstalled(message) { return self.drop(message, .unregisteredFromStorage, now, &effects) }
            if let newest = session.newest[message.topicHash], newest > message.sequence {
                _ = self.drop(message, .replaced, now, &effects)
                return true
            }
        }
        switch self.power.verdict(on: message, for: session, now: now, isWindow: load.isWindow) {
        case .deliver where session.unacknowledged.count < self.limits.unacknowledged:
            self.launch(message, nil, at: index, isFromStorage: true, now: now, &effects)
        case .deliver: self.sessions[index].hasBacklog = true
        case .hold: self.sessions[index].hasHeld = true
        case .offline: break
        case .discard: return self.drop(message, .disabledFromStorage, now, &effects)
        }
        return true
    }

    private mutating func drop(
        _ message: Message,
        _ name: Event.Name,
        _ now: Timestamp,
        _ effects: inout Effects
    ) -> Bool {
        if message.channel == nil { self.batch.changes.append(.remove(message)) }
        effects.events.append(self.event(name, message, now))
        return false
    }

    func event(_ name: Event.Name, _ message: Message, _ now: Timestamp) -> Event {
        Event(name, message, self.environment, time: now)
    }

    /// A message that is on its way.
    func message(_ id: UInt32, _ device: UUID, session: DeviceSession.ID) -> Message? {
        guard let index = self.index(device, session) else { return nil }
        return self.sessions[index].unacknowledged.first { $0.id == id }?.message
    }

    /// The place of the device's session, if `id` is still its current one.
    func index(_ device: UUID, _ id: DeviceSession.ID) -> Int? {
        guard let index = self.sessions.index(of: device), self.sessions[index].id == id else { return nil }
        return index
    }
}
