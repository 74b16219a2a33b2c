import Foundation
import Logging
import NIOCore
import NIOPosix
import PushSupport
import PushTypes
import PushWire
import Synchronization

/// Routes the messages of one environment. It accepts pushes from all listeners, stores them, and sends them to
/// connected devices.
///
/// One lock guards the ``RoutingStateMachine``. No code blocks while it is held. A push is accepted when its device has
/// acknowledged it or when it is on disk, whichever is earlier (docs/decisions/0008).
final class MessageRouter: PushSubmitter, Sendable {
    /// The length of an acknowledgement window. A push waits for its device for one to two windows before it is stored.
    static let window: TimeAmount = .milliseconds(50)

    private struct State {
        var machine: RoutingStateMachine
        var connections: [UInt64: any DeviceConnection] = [:]
    }

    let environment: PushEnvironment
    let limits: RoutingStateMachine.Limits
    let services: RoutingServices
    private let state: Mutex<State>

    init(machine: RoutingStateMachine, services: RoutingServices) {
        self.environment = machine.environment
        self.limits = machine.limits
        self.services = services
        self.state = Mutex(State(machine: machine))
    }

    private var now: Timestamp { self.services.time.now }

    // MARK: Pushes

    func submit(_ submissions: [Submission]) {
        self.perform { state, actions in
            let first = self.services.sequences.next(submissions.count)
            state.machine.submit(submissions, firstSequence: first, &actions)
        }
    }

    /// Accepts a broadcast. The call never blocks. The owner receives one result, as for a push.
    /// - Parameter ticket: The number by which the owner recognizes the result.
    func submit(_ accepted: AcceptedBroadcast, owner: any SubmissionDelegate, ticket: UInt32) {
        self.perform { state, actions in
            let broadcast = SequencedBroadcast(accepted, sequence: self.services.sequences.next(), at: actions.now)
            state.machine.submit(broadcast, owner: owner, ticket: ticket, &actions)
        }
    }

    func rejected(_ token: UnregisteredToken, apnsID: String) {
        let topic = self.services.devices.topic(token.topic, on: token.device, in: self.environment)
        self.log(.unregistered, token.device, topic, apnsID: apnsID)
        if let topic { self.services.feedback.add(token.token, topic: topic, in: self.environment, since: token.since) }
    }

    /// Logs the event of a push that the provider listener has rejected with 429 by one of its own rules.
    func rejectedTooMany(device: UUID, topic: Topic, apnsID: String) {
        self.log(.tooManyRequests, device, topic, apnsID: apnsID)
    }

    private func log(_ name: Event.Name, _ device: UUID, _ topic: Topic?, apnsID: String) {
        let (time, environment) = (self.now, self.environment)
        self.services.events.append(
            Event(name, device: device, time: time, environment: environment, topic: topic, apnsID: apnsID)
        )
    }

    func channelDeleted(_ channel: ChannelName) { self.perform { state, _ in state.machine.channelDeleted(channel) } }

    // MARK: Devices

    /// The number of connected devices, and the number and the total ``Message/cost``, in bytes, of the messages that
    /// they have not acknowledged.
    var load: (sessions: Int, unacknowledged: Int, bytes: Int) {
        self.state.withLock { state in
            let machine = state.machine
            return (machine.sessions.count, machine.sessions.unacknowledged, machine.unacknowledgedBytes)
        }
    }

    func isOnline(_ device: UUID) -> Bool { self.state.withLock { $0.machine.sessions.index(of: device) != nil } }

    var online: Set<UUID> { self.state.withLock { Set($0.machine.sessions.devices) } }

    /// Returns the session of a device, or `nil` if it is not connected.
    func session(of device: UUID) -> DeviceSession? { self.state.withLock { $0.machine.sessions.session(of: device) } }

    /// Begins the session of an authenticated device. Its earlier connection, if there is one, is closed.
    /// - Returns: The session, for which ``disconnected(_:)`` must be called, or `nil` if the device was deleted
    ///   meanwhile.
    func connected(_ device: UUID, isActive: Bool, connection: any DeviceConnection) -> DeviceSession.ID? {
        guard self.services.devices.device(device) != nil else { return nil }
        self.services.devices.updateLastSeen(device, at: self.now)
        let id = DeviceSession.ID(device: device, number: self.services.sequences.nextSession())
        self.perform { state, actions in
            state.connections[id.number] = connection
            state.machine.connected(id, isActive: isActive, &actions)
        }
        return id
    }

    func disconnected(_ session: DeviceSession.ID) {
        let wasCurrent = self.perform { state, actions in
            state.connections[session.number] = nil
            return state.machine.disconnected(session, &actions)
        }
        if wasCurrent { self.services.devices.updateLastSeen(session.device, at: self.now) }
    }

    func subscribed(_ session: DeviceSession.ID, to filter: DeviceLinkFilter) {
        self.perform { state, _ in state.machine.subscribed(session, to: filter) }
    }

    func stateChanged(_ session: DeviceSession.ID, isActive: Bool) {
        self.perform { $0.machine.stateChanged(session, isActive: isActive, now: $1.now) }
    }

    func acknowledged(_ session: DeviceSession.ID, _ acks: [DeviceLinkAcknowledgement]) {
        self.perform { state, actions in
            let acks = acks.filter { ack in
                !self.dropsAck(of: state.machine.message(ack.messageID, session), now: actions.now)
            }
            state.machine.acknowledged(session, acks, &actions)
        }
    }

    private func dropsAck(of message: @autoclosure () -> Message?, now: Timestamp) -> Bool {
        let decision = self.services.faults.decide(
            at: .acknowledgement,
            for: FaultSubject(listener: .deviceLink, environment: self.environment, message: message()),
            now: now
        )
        return decision?.response == .drop
    }

    /// Adds a device to a channel's followers. Returns `false` if its session is over or it follows too many channels.
    func follow(_ channel: ChannelName, _ session: DeviceSession.ID) -> Bool {
        self.perform { state, _ in state.machine.follow(channel, session) }
    }

    func unfollow(_ channel: ChannelName, _ session: DeviceSession.ID) {
        self.perform { state, _ in state.machine.unfollow(channel, session) }
    }

    /// Discards the messages for an app that was removed from a device.
    /// - Parameter topic: The app, or `nil` for all apps of a deleted or reinstalled device, whose connection is
    ///   closed.
    func removed(_ topic: Topic?, from device: UUID) { self.perform { $0.machine.removed(topic, from: device, &$1) } }

    /// Closes the connection of a device.
    /// - Returns: Whether the device was connected.
    func close(_ device: UUID) -> Bool {
        let connection = self.state.withLock { state in
            state.machine.sessions.session(of: device).flatMap { state.connections[$0.id.number] }
        }
        connection?.close()
        return connection != nil
    }

    // MARK: Time

    /// Removes expired messages, and delivers held messages to devices that can be woken. This method is called at
    /// intervals.
    func tick() { self.perform { $0.machine.tick(&$1) } }

    /// Closes all connections, stores the unacknowledged messages, and returns once everything is written.
    func end() async throws {
        self.perform { $0.machine.endAllSessions(&$1) }
        try await self.flush()
    }

    func flush() async throws {
        while self.state.withLock({ $0.machine.hasUnwrittenChanges }) { try await self.services.database.flush() }
    }

    // MARK: Actions

    private func perform<Value>(_ event: (inout State, inout RoutingStateMachine.Actions) -> Value) -> Value {
        let now = self.now
        let (value, actions, closing) = self.state.withLock { state in
            var actions = RoutingStateMachine.Actions(now: now)
            let value = event(&state, &actions)
            state.machine.complete(&actions)
            // Under the lock, so that a device gets its messages in the order in which they were decided.
            for (session, packet) in actions.packets { state.connections[session.number]?.send([packet]) }
            return (value, actions, actions.closing.compactMap { state.connections[$0.number] })
        }
        self.services.events.append(actions.events)
        for connection in closing { connection.close() }
        Self.settle(actions.accepted)
        Self.settle(actions.failed, rejection: .internalServerError)
        self.reject(actions.rejected)
        if let batch = actions.batch { self.write(batch) }
        if actions.schedulesWindow { self.scheduleWindow() }
        return value
    }

    private func write(_ batch: StoreBatch) {
        let (environment, now) = (self.environment, self.now)
        self.services.database.commit {
            try $0.perform(batch, in: environment, now: now)
        } completion: {
            self.wrote(batch, $0)
        }
    }

    private func wrote(_ batch: StoreBatch, _ result: Result<StoreBatch.Outcome, any Error>) {
        switch result {
        case .success(let outcome):
            self.perform { $0.machine.written(batch, outcome, isInstalled: self.isInstalled, &$1) }
        case .failure(let error):
            self.services.logger.error("notifications could not be stored", metadata: ["error": "\(error)"])
            self.perform { $0.machine.writeFailed(batch, &$1) }
        }
    }

    private func isInstalled(_ message: Message) -> Bool {
        self.services.devices.isInstalled(message.topicHash, on: message.device, in: self.environment)
    }

    private func scheduleWindow() {
        MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: Self.window) {
            self.perform { state, _ in state.machine.windowPassed() }
        }
    }

    private func reject(_ submissions: [PendingSubmission]) {
        guard !submissions.isEmpty else { return }
        self.services.logger.info(
            "notifications rejected: too much is in flight to the device",
            metadata: [
                "count": "\(submissions.count)", "environment": "\(self.environment.rawValue)",
                "id": "\(submissions.first?.id ?? "")", "reason": "\(Reason.tooManyRequests.text)",
            ]
        )
        Self.settle(submissions, rejection: .tooManyRequests)
    }

    /// Reports the same result of all pushes to their owners. Consecutive pushes of one owner are reported with one
    /// call. The pushes are accepted if `rejection` is `nil`.
    private static func settle(_ submissions: [PendingSubmission], rejection: Reason? = nil) {
        var rest = submissions[...]
        while let owner = rest.first?.owner {
            let run = rest.prefix { $0.owner === owner }
            owner.settled(run.map { SubmissionResult(ticket: $0.ticket, id: $0.id, rejection: rejection) })
            rest = rest.dropFirst(run.count)
        }
    }
}

final class MessageSequence: Sendable {
    private let last: Atomic<Int64>
    private let lastSession = Atomic<UInt64>(0)

    /// Creates the generator, whose first message number is `last` + 1.
    /// - Parameter last: The highest message number in use.
    init(last: Int64) { self.last = Atomic(last) }

    /// Returns the first of `count` new consecutive message numbers.
    func next(_ count: Int = 1) -> Int64 { self.last.add(Int64(count), ordering: .relaxed).oldValue + 1 }

    func nextSession() -> UInt64 { self.lastSession.add(1, ordering: .relaxed).newValue }
}

struct RoutingServices: Sendable {
    let database: GatewayDatabase
    let devices: DeviceRegistry
    let events: EventLog
    let feedback: any FeedbackSink
    let sequences: MessageSequence
    let faults: FaultPlan
    let time: any TimeSource
    let logger: Logger
}
