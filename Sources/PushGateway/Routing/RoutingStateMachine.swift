import PushTypes
import PushWire

/// Decides what happens to a message: it is delivered to its connected device, stored, discarded or rejected.
///
/// The methods that handle events add the resulting ``Actions`` to their argument. ``MessageRouter``, which owns the
/// lock, the connections and the store, performs them.
struct RoutingStateMachine: Sendable {
    struct Limits: Hashable, Sendable {
        /// The maximum number of unacknowledged messages of a device. Further pushes are rejected, and stored messages
        /// stay stored.
        var unacknowledged = GatewayConfiguration.Limits().unacknowledged
        /// The maximum sum of ``Message/cost`` of a device's unacknowledged messages. Default 8 MiB: at least 1,000
        /// messages with the largest payload.
        var unacknowledgedBytes = 8 * 1024 * 1024
        /// The maximum sum of ``Message/cost`` of the unacknowledged messages of all devices. One device uses at most
        /// as much as is free, so that devices that acknowledge nothing leave room for others. Default 256 MiB.
        var totalBytes = 256 * 1024 * 1024
        /// The maximum time without an acknowledgement for a device that has used up a limit. After it, the device is
        /// disconnected. Default 60 s.
        var silence: Duration = .seconds(60)
        /// The maximum number of channels that one device can follow. Further ones are refused. Default 100.
        var channels = 100
    }

    /// The actions that an event causes. The caller performs all of them after ``complete(_:)``.
    struct Actions: Sendable {
        let now: Timestamp
        var packets: [(session: DeviceSession.ID, packet: DevicePacket)] = []
        var closing: [DeviceSession.ID] = []
        var accepted: [PendingSubmission] = []
        /// The pushes to reject with ``Reason/tooManyRequests``, because too much is in flight to their devices.
        var rejected: [PendingSubmission] = []
        /// The pushes to reject with ``Reason/internalServerError``, because they could not be stored.
        var failed: [PendingSubmission] = []
        var events: [Event] = []
        /// The next group of changes and reads for the store, or `nil` while a group is being written or there is
        /// nothing to write. ``written(_:_:isInstalled:_:)`` or ``writeFailed(_:_:)`` must follow.
        var batch: StoreBatch?
        /// A Boolean value that indicates whether the caller must call ``windowPassed()`` after
        /// ``MessageRouter/window``.
        var schedulesWindow = false
    }

    let environment: PushEnvironment
    let limits: Limits
    let power: PowerRules
    var sessions = SessionTable()
    var followers = ChannelFollowers()
    private var windows = AcknowledgementWindows()
    var batch = StoreBatch()
    /// The sum of ``Message/cost`` of the unacknowledged messages of all devices.
    var unacknowledgedBytes = 0
    private var isWriting = false
    private var isWindowScheduled = false

    init(environment: PushEnvironment, limits: Limits, power: PowerRules) {
        (self.environment, self.limits, self.power) = (environment, limits, power)
    }

    var hasUnwrittenChanges: Bool { self.isWriting || !self.batch.isEmpty }

    /// Adds the next group for the store and the next acknowledgement window to an event's actions. This method is
    /// called once after each event.
    mutating func complete(_ actions: inout Actions) {
        if !self.isWriting, !self.batch.isEmpty {
            self.isWriting = true
            actions.batch = self.batch
            self.batch = StoreBatch()
        }
        if !self.isWindowScheduled, !self.windows.isEmpty {
            self.isWindowScheduled = true
            actions.schedulesWindow = true
        }
    }

    /// Handles a committed group of changes and reads: the pushes of `batch` are accepted, and the messages in
    /// `outcome` are delivered. `isInstalled` returns whether the app of a message is still on the device.
    mutating func written(
        _ batch: StoreBatch,
        _ outcome: StoreBatch.Outcome,
        isInstalled: (Message) -> Bool,
        _ actions: inout Actions
    ) {
        self.isWriting = false
        actions.accepted = batch.submissions
        actions.events = outcome.events
        for loaded in outcome.loaded { self.loaded(loaded, isInstalled: isInstalled, &actions) }
    }

    /// Handles a group `batch` that could not be written: its pushes fail, and the connections for which it read
    /// messages are closed.
    mutating func writeFailed(_ batch: StoreBatch, _ actions: inout Actions) {
        self.isWriting = false
        actions.closing = batch.loads.map(\.session).filter { self.index(of: $0) != nil }
        actions.failed = batch.submissions
    }

    /// Handles the end of an acknowledgement window: stores the messages that were not acknowledged in time.
    mutating func windowPassed() {
        self.isWindowScheduled = false
        self.storeLateMessages()
    }

    // MARK: Pushes

    /// Delivers, stores, discards or rejects pushes, in their order. Each push is accepted once its device has
    /// acknowledged it or it is stored.
    /// - Parameter firstSequence: The sequence number of the first push. Those of the following pushes are consecutive.
    mutating func submit(_ submissions: [Submission], firstSequence: Int64, _ actions: inout Actions) {
        for (offset, submission) in submissions.enumerated() {
            self.submit(submission, sequence: firstSequence + Int64(offset), &actions)
        }
    }

    private mutating func submit(_ submission: Submission, sequence: Int64, _ actions: inout Actions) {
        let message = Message(submission.push, sequence: sequence, acceptedAt: actions.now)
        let index = self.sessions.index(of: message.device)
        if let index, self.rejects(message, at: index, now: actions.now) {
            self.log(.tooManyRequests, message, &actions)
            return actions.rejected.append(submission.pending)
        }
        self.log(.received, message, &actions)
        if message.isExpired(at: actions.now) {
            self.log(.expired, message, &actions)
            return actions.accepted.append(submission.pending)
        }
        guard let index else { return self.store(message, submission, as: .storedOffline, &actions) }
        self.route(message, submission, at: index, &actions)
    }

    /// Returns whether only the limits prevent the delivery of a message. Such a message is rejected, because in the
    /// store it would replace a message that the device has not received yet.
    private func rejects(_ message: Message, at index: Int, now: Timestamp) -> Bool {
        let hasRoom =
            self.hasRoom(for: message, at: index)
            && self.sessions[index].unacknowledged.bytes + message.cost <= self.freeBytes
        guard !hasRoom, !message.isExpired(at: now) else { return false }
        return self.power.decision(for: message, self.sessions[index], now: now, isWindow: false) == .deliver
    }

    var freeBytes: Int { self.limits.totalBytes - self.unacknowledgedBytes }

    /// Returns whether the limits of the device allow one more unacknowledged message of this size.
    func hasRoom(for message: Message, at index: Int) -> Bool {
        self.sessions[index].unacknowledged.count < self.limits.unacknowledged
            && self.sessions[index].unacknowledged.bytes + message.cost <= self.limits.unacknowledgedBytes
    }

    private mutating func route(_ message: Message, _ submission: Submission, at index: Int, _ actions: inout Actions) {
        // A message that is not stored replaces no stored one.
        if message.expiresAt != nil { self.sessions[index].loads.received(message) }
        switch self.power.decision(for: message, self.sessions[index], now: actions.now, isWindow: false) {
        case .deliver: self.send(message, submission, at: index, &actions)
        case .offline: self.store(message, submission, as: .storedUnfiltered, &actions)
        case .hold:
            self.sessions[index].hasHeld = true
            self.store(message, submission, as: .storedPower, &actions)
        case .discard:
            self.log(.disabled, message, &actions)
            actions.accepted.append(submission.pending)
        }
    }

    /// Stores a message that cannot be delivered now, if it may be stored. It replaces the stored messages of its
    /// topic, except those that are in flight to the device.
    private mutating func store(
        _ message: Message,
        _ submission: Submission,
        as name: Event.Name,
        _ actions: inout Actions
    ) {
        guard message.expiresAt != nil else {
            self.log(.expired, message, &actions)
            return actions.accepted.append(submission.pending)
        }
        self.log(name, message, &actions)
        self.batch.changes.append(.putNewest(message, keeping: self.storedInFlight(before: message)))
        self.batch.submissions.append(submission.pending)
    }

    /// Returns the sequence numbers of older messages of the same topic that are both stored and in flight to the
    /// device.
    private func storedInFlight(before message: Message) -> Set<Int64> {
        guard let index = self.sessions.index(of: message.device), !self.sessions[index].unacknowledged.isEmpty
        else { return [] }
        let entries = self.sessions[index].unacknowledged.filter { entry in
            entry.isStored && entry.isFor(message.topicHash) && entry.message.sequence < message.sequence
        }
        return Set(entries.map(\.message.sequence))
    }

    mutating func send(
        _ message: Message,
        _ submission: Submission?,
        at index: Int,
        isFromStorage: Bool = false,
        _ actions: inout Actions
    ) {
        let (id, session) = (self.sessions[index].takeMessageID(), self.sessions[index].id)
        var entry = DeviceSession.InFlight(
            id: id,
            message: message,
            isFromStorage: isFromStorage,
            isStored: isFromStorage,
            window: self.windows.current
        )
        if let submission {
            if message.expiresAt == nil {
                actions.accepted.append(submission.pending)
            } else {
                entry.submission = submission.pending
                self.windows.add(message.device, last: &self.sessions[index].lastWindow)
            }
        }
        if self.sessions[index].unacknowledged.isEmpty { self.sessions[index].progressedAt = actions.now }
        self.sessions[index].unacknowledged.add(entry)
        self.unacknowledgedBytes += message.cost
        if self.power.backgroundPerHour != nil, message.notification.pushType == .background {
            self.sessions[index].recordBackground(message.topicHash, now: actions.now)
        }
        actions.packets.append((session, .message(message, id: id)))
    }

    func log(_ name: Event.Name, _ message: Message, _ actions: inout Actions) {
        actions.events.append(Event(name, message, self.environment, time: actions.now))
    }

    /// Returns an unacknowledged message, or `nil` if it was acknowledged, or the session is over.
    func message(_ id: UInt32, _ session: DeviceSession.ID) -> Message? {
        self.index(of: session).flatMap { self.sessions[$0].unacknowledged[id]?.message }
    }

    /// Returns the index of a session, or `nil` if it is not the current session of its device.
    func index(of id: DeviceSession.ID) -> Int? {
        guard let index = self.sessions.index(of: id.device), self.sessions[index].id == id else { return nil }
        return index
    }
}

extension RoutingStateMachine {
    /// Stores the messages that were sent before the last window and are not acknowledged, so that their pushes are
    /// accepted without waiting for a slow device. None replaces another, because the device still has to receive each.
    private mutating func storeLateMessages() {
        let window = self.windows.current
        for device in self.windows.advance() {
            guard let index = self.sessions.index(of: device) else { continue }
            let late = self.sessions[index].unacknowledged.filter { $0.submission != nil && $0.window < window }
            for entry in late.sorted(by: { $0.id < $1.id }) {
                guard let submission = self.sessions[index].unacknowledged.markStored(entry.id) else { continue }
                self.batch.changes.append(.put(entry.message))
                self.batch.submissions.append(submission)
            }
        }
    }

    /// Handles acknowledgements: the messages are removed from the store, and those that waited for them are read next.
    mutating func acknowledged(_ id: DeviceSession.ID, _ acks: [DeviceLinkAcknowledgement], _ actions: inout Actions) {
        guard let index = self.index(of: id) else { return }
        let removesOlder = self.sessions[index].hasBacklog || self.sessions[index].hasHeld
        var newest: [TopicHash: Message] = [:]
        for ack in acks {
            guard let done = self.sessions[index].unacknowledged.remove(ack.messageID) else { continue }
            self.unacknowledgedBytes -= done.message.cost
            self.sessions[index].progressedAt = actions.now
            self.sessions[index].loads.acknowledged(done.message)
            let delivered: Event.Name = done.isFromStorage ? .deliveredFromStorage : .delivered
            self.log(ack.status == 0 ? delivered : .rejectedByDevice, done.message, &actions)
            if let submission = done.submission { actions.accepted.append(submission) }
            if let channel = done.message.channel {
                guard done.message.expiresAt != nil else { continue }
                self.batch.changes.append(
                    .advance(device: id.device, channel: channel, sequence: done.message.sequence)
                )
                continue
            }
            if done.isStored { self.batch.changes.append(.remove(done.message)) }
            let hash = done.message.topicHash
            if removesOlder, newest[hash].map({ $0.sequence < done.message.sequence }) ?? true {
                newest[hash] = done.message
            }
        }
        // A device that has acknowledged a message no longer wants older ones of its topic. They are removed once for
        // each topic, whatever the order of the acknowledgements.
        for message in newest.values {
            self.batch.changes.append(.removeOlder(message, keeping: self.storedInFlight(before: message)))
        }
        self.loadBacklog(at: index)
    }

    /// Reads a device's stored messages that exceeded the limits, once at least half of each limit is free.
    mutating func loadBacklog(at index: Int) {
        guard self.sessions[index].hasBacklog,
            self.sessions[index].unacknowledged.count <= self.limits.unacknowledged / 2,
            self.sessions[index].unacknowledged.bytes <= self.limits.unacknowledgedBytes / 2
        else { return }
        self.sessions[index].hasBacklog = false
        self.load(.messages(isFirst: false), at: index)
    }
}

extension RoutingStateMachine {
    mutating func load(_ part: StoreLoad.Part, at index: Int, isWindow: Bool = false) {
        let load = StoreLoad(session: self.sessions[index].id, part: part, isWindow: isWindow)
        if self.sessions[index].loads.begin(load) { self.batch.loads.append(load) }
    }

    /// Reads a device's stored messages, including those that were held.
    /// - Parameter isWindow: Whether the device is being woken for messages that were held.
    mutating func loadHeld(_ part: StoreLoad.Part, at index: Int, isWindow: Bool = false) {
        self.sessions[index].hasHeld = false
        self.load(part, at: index, isWindow: isWindow)
    }

    /// Delivers the messages that were read, and informs the device for which of its topics nothing was stored.
    private mutating func loaded(_ loaded: LoadedMessages, isInstalled: (Message) -> Bool, _ actions: inout Actions) {
        guard let index = self.index(of: loaded.load.session) else { return }
        for channel in loaded.subscriptions where !self.sessions[index].loads.hasUnfollowed(channel) {
            self.addFollower(of: channel, at: index)
        }
        var kept: Set<TopicHash> = []
        let inFlight = self.sessions[index].unacknowledged.sequences
        for message in loaded.messages {
            if inFlight.contains(message.sequence)
                || self.offer(message, at: index, loaded.load, isInstalled: isInstalled, &actions)
            {
                kept.insert(message.topicHash)
            }
        }
        if let again = self.sessions[index].loads.end(loaded.load) { self.batch.loads.append(again) }
        guard loaded.load.part == .messages(isFirst: true) else { return }
        let empty = self.sessions[index].topics.filter { $0.interest != .ignored && !kept.contains($0.hash) }
            .map(\.hash)
        if !empty.isEmpty { actions.packets.append((self.sessions[index].id, .nothingStored(empty))) }
    }

    /// Delivers one stored message, holds it, or removes it.
    /// - Returns: Whether a message counts as stored for the topic, even if a newer one has replaced it.
    private mutating func offer(
        _ message: Message,
        at index: Int,
        _ load: StoreLoad,
        isInstalled: (Message) -> Bool,
        _ actions: inout Actions
    ) -> Bool {
        if self.sessions[index].loads.hasAcknowledged(message) { return true }
        if let channel = message.channel, self.sessions[index].loads.hasUnfollowed(channel) { return false }
        if message.isExpired(at: actions.now) {
            self.remove(message, .expired, &actions)
            return false
        }
        if message.channel == nil {
            if !isInstalled(message) {
                self.remove(message, .unregisteredFromStorage, &actions)
                return false
            }
            if self.sessions[index].loads.hasReceivedNewer(than: message) {
                self.remove(message, .replaced, &actions)
                return true
            }
        }
        switch self.power.decision(for: message, self.sessions[index], now: actions.now, isWindow: load.isWindow) {
        case .deliver where self.hasRoom(for: message, at: index):
            self.send(message, nil, at: index, isFromStorage: true, &actions)
        case .deliver: self.sessions[index].hasBacklog = true
        case .hold: self.sessions[index].hasHeld = true
        case .offline: break
        case .discard:
            self.remove(message, .disabledFromStorage, &actions)
            return false
        }
        return true
    }

    private mutating func remove(_ message: Message, _ name: Event.Name, _ actions: inout Actions) {
        if message.channel == nil { self.batch.changes.append(.remove(message)) }
        self.log(name, message, &actions)
    }
}
