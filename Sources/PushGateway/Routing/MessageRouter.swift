import Foundation
import GRDB
import Logging
import NIOCore
import NIOPosix
import PushSupport
import PushTypes
import PushWire
import Synchronization

/// The core behind all doors of one environment: takes accepted pushes, keeps them, hands them to connected devices.
///
/// One lock guards the ``RoutingMachine``; nothing blocks under it. A push is answered when its device has acknowledged
/// it or when it is on disk, whichever comes first (docs/decisions/0008).
final class MessageRouter: PushSubmitter, BroadcastSubmitter, Sendable {
    /// How long a push waits for its device before it is stored: between one and two of these.
    static let window: TimeAmount = .milliseconds(50)

    private struct State {
        var machine: RoutingMachine
        var isWriting = false
        var isWindowScheduled = false
    }

    let environment: PushEnvironment
    let limits: RoutingMachine.Limits
    private let commit: GroupCommit
    private let devices: DeviceRegistry
    private let events: EventLog
    private let feedback: any FeedbackSink
    private let sequences: MessageSequence
    let faults: FaultPlan
    private let time: any TimeSource
    private let logger: Logger
    private let state: Mutex<State>

    init(
        machine: RoutingMachine,
        commit: GroupCommit,
        devices: DeviceRegistry,
        events: EventLog,
        feedback: any FeedbackSink,
        sequences: MessageSequence,
        faults: FaultPlan,
        time: any TimeSource,
        logger: Logger
    ) {
        self.environment = machine.environment
        self.limits = machine.limits
        self.commit = commit
        self.devices = devices
        self.events = events
        self.feedback = feedback
        self.sequences = sequences
        self.faults = faults
        self.time = time
        self.logger = logger
        self.state = Mutex(State(machine: machine))
    }

    // MARK: Pushes

    func submit(_ submissions: [Submission]) {
        let now = self.time.now
        self.perform { machine, effects in
            for submission in submissions {
                machine.submit(submission, sequence: self.sequences.next(), now: now, &effects)
            }
        }
    }

    func submit(_ accepted: AcceptedBroadcast, owner: any SubmissionDelegate, ticket: UInt32) {
        let now = self.time.now
        let channel = ChannelName(bundleID: accepted.bundleID, id: accepted.channelID)
        let broadcast = Broadcast(
            sequence: self.sequences.next(),
            channel: channel,
            notification: PushNotification(
                id: accepted.requestID,
                topic: channel.topic,
                pushType: .liveactivity,
                priority: accepted.priority,
                expiration: accepted.expiration,
                payload: accepted.payload
            ),
            acceptedAt: now,
            expiresAt: accepted.storageEnd(acceptedAt: now)
        )
        self.perform { $0.submit(broadcast, owner: owner, ticket: ticket, now: now, &$1) }
    }

    func refusedUnregistered(
        _ token: DeviceToken,
        device: UUID,
        topic: TopicHash,
        apnsID: String,
        since: Timestamp
    ) {
        let name = self.devices.topic(topic, on: device, in: self.environment)
        self.events.append(
            Event(
                .unregistered,
                device: device,
                time: self.time.now,
                environment: self.environment,
                topic: name,
                apnsID: apnsID
            )
        )
        if let name { self.feedback.add(token, topic: name, in: self.environment, since: since) }
    }

    /// A rule of the door's does not let the push through.
    func refusedTooMany(device: UUID, topic: Topic, apnsID: String) {
        self.events.append(
            Event(
                .refusedTooMany,
                device: device,
                time: self.time.now,
                environment: self.environment,
                topic: topic,
                apnsID: apnsID
            )
        )
    }

    func channelDeleted(bundleID: Topic, channelID: String) {
        self.perform { machine, _ in machine.remove(ChannelName(bundleID: bundleID, id: channelID)) }
    }

    // MARK: Devices

    /// Connected devices, and messages that they have not acknowledged, with the bytes that these count.
    var load: (sessions: Int, unacknowledged: Int, bytes: Int) {
        self.state.withLock { state in
            let machine = state.machine
            return (machine.sessions.count, machine.sessions.unacknowledged, machine.unacknowledgedBytes)
        }
    }

    func isOnline(_ device: UUID) -> Bool { self.state.withLock { $0.machine.sessions.index(of: device) != nil } }

    /// All connected devices.
    var online: Set<UUID> { self.state.withLock { Set($0.machine.sessions.devices) } }

    /// The connection of a device; `nil` if it has none.
    func session(of device: UUID) -> DeviceSession? { self.state.withLock { $0.machine.sessions.session(of: device) } }

    /// A device has proved who it is. Its earlier session, if there is one, is closed.
    /// - Returns: `nil` if it was deleted meanwhile.
    func connected(_ device: UUID, isActive: Bool, link: any DeviceConnection) -> DeviceSession.ID? {
        let now = self.time.now
        guard self.devices.device(device) != nil else { return nil }
        self.devices.saw(device, at: now)
        return self.perform { machine, effects in
            let id = self.sequences.nextSession()
            machine.connected(device, session: id, isActive: isActive, link: link, now: now, &effects)
            return id
        }
    }

    func disconnected(_ device: UUID, session: DeviceSession.ID) {
        let now = self.time.now
        let wasCurrent = self.perform { $0.disconnected(device, session: session, now: now, &$1) }
        if wasCurrent { self.devices.saw(device, at: now) }
    }

    func subscribed(_ device: UUID, session: DeviceSession.ID, to filter: DeviceLinkFilter) {
        self.perform { machine, _ in machine.subscribed(device, session: session, to: filter) }
    }

    func stateChanged(_ device: UUID, session: DeviceSession.ID, isActive: Bool) {
        let now = self.time.now
        self.perform { machine, _ in machine.stateChanged(device, session: session, isActive: isActive, now: now) }
    }

    func acknowledged(_ device: UUID, session: DeviceSession.ID, _ acks: [DeviceLinkAcknowledgement]) {
        let now = self.time.now
        self.perform { machine, effects in
            let acks = acks.filter { ack in
                !self.dropsAck(of: machine.message(ack.messageID, device, session: session), now: now)
            }
            machine.acknowledged(device, session: session, acks, now: now, &effects)
        }
    }

    /// Whether a fault makes this acknowledgement count as never come.
    private func dropsAck(of message: @autoclosure () -> Message?, now: Timestamp) -> Bool {
        var random = SystemRandomNumberGenerator()
        let decision = self.faults.decide(
            at: .acknowledgement,
            for: FaultSubject(door: .courier, environment: self.environment, message: message()),
            random: &random,
            now: now
        )
        return decision?.answer == .drop
    }

    func follow(_ channel: ChannelName, _ device: UUID, session: DeviceSession.ID) -> Bool {
        let now = self.time.now
        return self.perform { machine, _ in machine.follow(channel, device, session: session, now: now) }
    }

    func unfollow(_ channel: ChannelName, _ device: UUID, session: DeviceSession.ID) {
        self.perform { machine, _ in machine.unfollow(channel, device, session: session) }
    }

    /// The app was removed from the device, or with no topic, the device is no more.
    func forget(_ topic: Topic?, of device: UUID) {
        let now = self.time.now
        self.perform { $0.forget(topic, of: device, now: now, &$1) }
    }

    /// Ends the device's connection; whether it has one.
    func close(_ device: UUID) -> Bool {
        guard let link = self.state.withLock({ $0.machine.sessions.session(of: device)?.link }) else { return false }
        link.close()
        return true
    }

    // MARK: Time

    /// Removes what has expired and wakes devices for what may wait. Called from time to time.
    func tick() {
        let now = self.time.now
        self.perform { $0.tick(now: now, &$1) }
    }

    /// The gateway ends: what devices have not acknowledged is stored. Returns when all is written.
    func end() async throws {
        let now = self.time.now
        self.perform { $0.endAllSessions(now: now, &$1) }
        try await self.settle()
    }

    /// Returns when all changes so far are written.
    func settle() async throws {
        while self.state.withLock({ $0.isWriting || !$0.machine.batch.isEmpty }) {
            try await self.commit.write { _ in }
        }
    }

    // MARK: Doing what the machine says

    private func perform<Value>(_ body: (inout RoutingMachine, inout RoutingMachine.Effects) -> Value) -> Value {
        var effects = RoutingMachine.Effects()
        let (value, batch, opensWindow) = self.state.withLock { state in
            let value = body(&state.machine, &effects)
            // Under the lock, so that a device gets its messages in the order in which they were decided.
            for (link, packet) in effects.packets { link.send([packet]) }
            let batch = state.isWriting ? nil : state.machine.takeBatch()
            if batch != nil { state.isWriting = true }
            let opensWindow = state.machine.awaitsWindow && !state.isWindowScheduled
            if opensWindow { state.isWindowScheduled = true }
            return (value, batch, opensWindow)
        }
        self.events.append(effects.events)
        for link in effects.closing { link.close() }
        Self.settle(effects.settled)
        self.refuse(effects.refused)
        if let batch { self.write(batch) }
        if opensWindow { self.scheduleWindow() }
        return value
    }

    private func write(_ batch: StoreBatch) {
        let (environment, now) = (self.environment, self.time.now)
        self.commit.add {
            try batch.perform($0, environment, now: now)
        } completion: {
            self.wrote(batch, $0)
        }
    }

    private func wrote(_ batch: StoreBatch, _ result: Result<StoreBatch.Outcome, any Error>) {
        let now = self.time.now
        let isWritten: Bool
        switch result {
        case .success(let outcome):
            isWritten = true
            self.events.append(outcome.events)
            self.continueWriting { machine, effects in
                for loaded in outcome.loaded {
                    machine.loaded(loaded, isInstalled: self.isInstalled, now: now, &effects)
                }
            }
        case .failure(let error):
            isWritten = false
            self.logger.error("notifications could not be stored", metadata: ["error": "\(error)"])
            self.continueWriting { machine, effects in
                for load in batch.loads { machine.loadFailed(load, &effects) }
            }
        }
        Self.settle(batch.waiters, refusal: isWritten ? nil : .internalServerError)
    }

    private func continueWriting(_ body: (inout RoutingMachine, inout RoutingMachine.Effects) -> Void) {
        self.state.withLock { $0.isWriting = false }
        self.perform(body)
    }

    private func isInstalled(_ message: Message) -> Bool {
        self.devices.isInstalled(message.topicHash, on: message.device, in: self.environment)
    }

    private func scheduleWindow() {
        MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: Self.window) {
            self.state.withLock { $0.isWindowScheduled = false }
            self.perform { machine, _ in machine.windowPassed() }
        }
    }

    private func refuse(_ waiters: [StoreBatch.Waiter]) {
        guard !waiters.isEmpty else { return }
        self.logger.info(
            "notifications refused: too much is on its way to the device",
            metadata: [
                "count": "\(waiters.count)", "environment": "\(self.environment.rawValue)",
                "id": "\(waiters.first?.id ?? "")", "reason": "\(Reason.tooManyRequests.text)",
            ]
        )
        Self.settle(waiters, refusal: .tooManyRequests)
    }

    /// Tells each owner of all its pushes that follow each other at once.
    private static func settle(_ waiters: [StoreBatch.Waiter], refusal: Reason? = nil) {
        var rest = waiters[...]
        while let owner = rest.first?.owner {
            let run = rest.prefix { $0.owner === owner }
            owner.settled(run.map { SubmissionResult(ticket: $0.ticket, id: $0.id, refusal: refusal) })
            rest = rest.dropFirst(run.count)
        }
    }
}
