import Foundation
import PushTypes

/// Decides the way of a message: delivered to its connected device, stored, discarded or rejected.
///
/// Every method for an event adds to the ``Actions`` that it is given. ``MessageRouter`` owns the lock, the connections
/// and the store, and performs them.
struct RoutingStateMachine: Sendable {
    struct Limits: Hashable, Sendable {
        /// Messages that a device may leave unacknowledged. A push beyond that is rejected; stored messages stay
        /// stored.
        var unacknowledged = GatewayConfiguration.Limits().unacknowledged
        /// Their sum of ``Message/cost``. Default 8 MiB: at least 1,000 of the largest payload.
        var unacknowledgedBytes = 8 * 1024 * 1024
        /// The sum of all devices. One device has at most as much of it as is free, so that devices which acknowledge
        /// nothing leave room for the others. Default 256 MiB.
        var totalBytes = 256 * 1024 * 1024
        /// A device that has used up a limit and acknowledged nothing for so long is disconnected. Default 60 s.
        var silence: Duration = .seconds(60)
        /// Channels that one device may follow. Default 100.
        var channels = 100
    }

    /// The result of an event, after ``complete(_:)``. All of it is to be done at once.
    struct Actions: Sendable {
        /// The time of the event.
        let now: Timestamp
        /// Packets to send, in this order.
        var packets: [(session: DeviceSession.ID, packet: DevicePacket)] = []
        /// Connections to close.
        var closing: [DeviceSession.ID] = []
        /// Pushes to report as accepted.
        var accepted: [PendingSubmission] = []
        /// Pushes to reject with ``Reason/tooManyRequests``: too much is in flight to their device.
        var rejected: [PendingSubmission] = []
        /// Pushes to reject with ``Reason/internalServerError``: they could not be stored.
        var failed: [PendingSubmission] = []
        /// Events to log.
        var events: [Event] = []
        /// The next group for the store; ``written(_:_:isInstalled:_:)`` or ``writeFailed(_:_:)`` must follow. `nil`
        /// while a group is being written, or when there is nothing to write.
        var batch: StoreBatch?
        /// Indicates whether ``windowPassed()`` is to be called after ``MessageRouter/window``.
        var schedulesWindow = false
    }

    let environment: PushEnvironment
    let limits: Limits
    let power: PowerRules
    var sessions = SessionTable()
    var followers = ChannelFollowers()
    var windows = AcknowledgementWindows()
    /// The changes and reads that no group has taken yet.
    var batch = StoreBatch()
    /// The sum of ``Message/cost`` that all devices have not acknowledged.
    var unacknowledgedBytes = 0
    private var isWriting = false
    private var isWindowScheduled = false

    init(environment: PushEnvironment, limits: Limits, power: PowerRules) {
        (self.environment, self.limits, self.power) = (environment, limits, power)
    }

    /// Indicates whether some changes are not on disk yet.
    var hasUnwrittenChanges: Bool { self.isWriting || !self.batch.isEmpty }

    /// Completes the result of an event with what follows from the new state. Called once after each event.
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

    /// A group is on disk: its pushes are accepted, and the messages that it read are delivered.
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

    /// A group could not be written: its pushes fail, and devices for which it read have to connect again.
    mutating func writeFailed(_ batch: StoreBatch, _ actions: inout Actions) {
        self.isWriting = false
        actions.closing = batch.loads.map(\.session).filter { self.index(of: $0) != nil }
        actions.failed = batch.submissions
    }

    /// The window that ``Actions/schedulesWindow`` began has passed.
    mutating func windowPassed() {
        self.isWindowScheduled = false
        self.storeLateMessages()
    }

    // MARK: Pushes

    /// Delivers, stores, discards or rejects pushes, in their order. Each is accepted once its device or the store has
    /// it.
    /// - Parameter firstSequence: The sequence number of the first; those of the others follow.
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

    /// Returns whether the message could be delivered but for the limits. Stored, it would replace a message that the
    /// device is still to get.
    private func rejects(_ message: Message, at index: Int, now: Timestamp) -> Bool {
        let hasRoom =
            self.hasRoom(for: message, at: index)
            && self.sessions[index].unacknowledged.bytes + message.cost <= self.freeBytes
        guard !hasRoom, !message.isExpired(at: now) else { return false }
        return self.power.decision(for: message, self.sessions[index], now: now, isWindow: false) == .deliver
    }

    /// The bytes that all devices may still leave unacknowledged.
    var freeBytes: Int { self.limits.totalBytes - self.unacknowledgedBytes }

    /// Returns whether the device may leave one more message unacknowledged.
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
    /// topic, apart from those in flight to the device.
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

    /// Returns the sequence numbers of older messages of this one's topic that are stored and in flight to the device.
    func storedInFlight(before message: Message) -> Set<Int64> {
        guard let index = self.sessions.index(of: message.device), !self.sessions[index].unacknowledged.isEmpty
        else { return [] }
        let entries = self.sessions[index].unacknowledged.filter { entry in
            entry.isStored && entry.isFor(message.topicHash) && entry.message.sequence < message.sequence
        }
        return Set(entries.map(\.message.sequence))
    }

    /// Sends a message to its device.
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

    /// Adds the event of a message.
    func log(_ name: Event.Name, _ message: Message, _ actions: inout Actions) {
        actions.events.append(Event(name, message, self.environment, time: actions.now))
    }

    /// Returns a message in flight; `nil` if it was acknowledged, or the session is over.
    func message(_ id: UInt32, _ session: DeviceSession.ID) -> Message? {
        self.index(of: session).flatMap { self.sessions[$0].unacknowledged[id]?.message }
    }

    /// Returns the index of a session; `nil` if it is not its device's current one.
    func index(of id: DeviceSession.ID) -> Int? {
        guard let index = self.sessions.index(of: id.device), self.sessions[index].id == id else { return nil }
        return index
    }
}
