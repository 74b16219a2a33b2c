import Foundation
import Logging
import NIOCore
import NIOPosix
import PushSupport
import PushTypes
import PushWire
import Synchronization

/// The core behind all listeners of one environment: takes accepted pushes, stores them, sends them to connected
/// devices.
///
/// One lock guards the ``RoutingStateMachine``; nothing blocks under it. A push is accepted when its device has
/// acknowledged it or when it is on disk, whichever comes first (docs/decisions/0008).
final class MessageRouter: PushSubmitter, BroadcastSubmitter, Sendable {
    /// The length of a window. A push waits for its device between one and two windows before it is stored.
    static let window: TimeAmount = .milliseconds(50)

    private struct State {
        var machine: RoutingStateMachine
        /// The connections from ``connected(_:isActive:connection:)`` to ``disconnected(_:session:)``.
        var connections: [DeviceSession.ID: any DeviceConnection] = [:]
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
        let now = self.now
        self.perform { state in
            let first = self.services.sequences.next(submissions.count)
            return state.machine.submit(submissions, firstSequence: first, now: now)
        }
    }

    func submit(_ accepted: AcceptedBroadcast, owner: any SubmissionDelegate, ticket: UInt32) {
        let now = self.now
        self.perform { state in
            let broadcast = Broadcast(accepted, sequence: self.services.sequences.next(), at: now)
            return state.machine.submit(broadcast, owner: owner, ticket: ticket, now: now)
        }
    }

    func rejected(_ token: UnregisteredToken, apnsID: String) {
        let topic = self.services.devices.topic(token.topic, on: token.device, in: self.environment)
        self.log(.unregistered, token.device, topic, apnsID: apnsID)
        if let topic { self.services.feedback.add(token.token, topic: topic, in: self.environment, since: token.since) }
    }

    /// Logs the event of a push that a rule of the listener's has rejected with 429.
    func rejectedTooMany(device: UUID, topic: Topic, apnsID: String) {
        self.log(.tooManyRequests, device, topic, apnsID: apnsID)
    }

    private func log(_ name: Event.Name, _ device: UUID, _ topic: Topic?, apnsID: String) {
        let (time, environment) = (self.now, self.environment)
        self.services.events.append(
            Event(name, device: device, time: time, environment: environment, topic: topic, apnsID: apnsID)
        )
    }

    func channelDeleted(bundleID: Topic, channelID: String) {
        self.perform { $0.machine.channelDeleted(ChannelName(bundleID: bundleID, id: channelID)) }
    }

    // MARK: Devices

    /// The connected devices, and the messages that they have not acknowledged, with their ``Message/cost`` in bytes.
    var load: (sessions: Int, unacknowledged: Int, bytes: Int) {
        self.state.withLock { state in
            let machine = state.machine
            return (machine.sessions.count, machine.sessions.unacknowledged, machine.unacknowledgedBytes)
        }
    }

    func isOnline(_ device: UUID) -> Bool { self.state.withLock { $0.machine.sessions.index(of: device) != nil } }

    /// All connected devices.
    var online: Set<UUID> { self.state.withLock { Set($0.machine.sessions.devices) } }

    /// Returns the session of a device; `nil` if it is not connected.
    func session(of device: UUID) -> DeviceSession? { self.state.withLock { $0.machine.sessions.session(of: device) } }

    /// Begins the session of a device that was authenticated. Its earlier connection, if there is one, is closed.
    /// - Returns: The session; `nil` if the device was deleted meanwhile. ``disconnected(_:session:)`` must follow.
    func connected(_ device: UUID, isActive: Bool, connection: any DeviceConnection) -> DeviceSession.ID? {
        let now = self.now
        guard self.services.devices.device(device) != nil else { return nil }
        self.services.devices.updateLastSeen(device, at: now)
        let id = self.services.sequences.nextSession()
        self.perform { state in
            state.connections[id] = connection
            return state.machine.connected(device, session: id, isActive: isActive, now: now)
        }
        return id
    }

    func disconnected(_ device: UUID, session: DeviceSession.ID) {
        let now = self.now
        let wasCurrent = self.perform { state in
            state.connections[session] = nil
            return state.machine.disconnected(device, session: session, now: now)
        }
        if wasCurrent { self.services.devices.updateLastSeen(device, at: now) }
    }

    func subscribed(_ device: UUID, session: DeviceSession.ID, to filter: DeviceLinkFilter) {
        self.perform { $0.machine.subscribed(device, session: session, to: filter) }
    }

    func stateChanged(_ device: UUID, session: DeviceSession.ID, isActive: Bool) {
        let now = self.now
        self.perform { $0.machine.stateChanged(device, session: session, isActive: isActive, now: now) }
    }

    func acknowledged(_ device: UUID, session: DeviceSession.ID, _ acks: [DeviceLinkAcknowledgement]) {
        let now = self.now
        self.perform { state in
            let acks = acks.filter { ack in
                !self.dropsAck(of: state.machine.message(ack.messageID, device, session: session), now: now)
            }
            return state.machine.acknowledged(device, session: session, acks, now: now)
        }
    }

    /// Returns whether a fault drops an acknowledgement.
    private func dropsAck(of message: @autoclosure () -> Message?, now: Timestamp) -> Bool {
        let decision = self.services.faults.decide(
            at: .acknowledgement,
            for: FaultSubject(listener: .deviceLink, environment: self.environment, message: message()),
            now: now
        )
        return decision?.response == .drop
    }

    /// - Returns: Whether the device follows the channel now: there is a limit of channels per device.
    func follow(_ channel: ChannelName, _ device: UUID, session: DeviceSession.ID) -> Bool {
        self.perform { $0.machine.follow(channel, device, session: session) }
    }

    func unfollow(_ channel: ChannelName, _ device: UUID, session: DeviceSession.ID) {
        self.perform { $0.machine.unfollow(channel, device, session: session) }
    }

    /// Discards the messages of an app that was removed from a device.
    /// - Parameter topic: `nil` if the device was deleted or installed anew: that ends its connection.
    func removed(_ topic: Topic?, from device: UUID) {
        let now = self.now
        self.perform { $0.machine.removed(topic, from: device, now: now) }
    }

    /// Closes the connection of a device.
    /// - Returns: Whether it has one.
    func close(_ device: UUID) -> Bool {
        let connection = self.state.withLock { state in
            state.machine.sessions.session(of: device).flatMap { state.connections[$0.id] }
        }
        connection?.close()
        return connection != nil
    }

    // MARK: Time

    /// Removes what has expired, and delivers held messages whose time has come. Called from time to time.
    func tick() {
        let now = self.now
        self.perform { $0.machine.tick(now: now) }
    }

    /// Closes all connections and stores the unacknowledged messages. Returns when all is written.
    func end() async throws {
        let now = self.now
        self.perform { $0.machine.endAllSessions(now: now) }
        try await self.flush()
    }

    /// Returns when all changes so far are written.
    func flush() async throws {
        while self.state.withLock({ $0.machine.hasUnwrittenChanges }) { try await self.services.database.flush() }
    }

    // MARK: Actions

    private func perform(_ event: (inout State) -> RoutingStateMachine.Actions) {
        self.perform { ((), event(&$0)) }
    }

    private func perform<Value>(_ event: (inout State) -> (Value, RoutingStateMachine.Actions)) -> Value {
        let (value, actions, closing) = self.state.withLock { state in
            let (value, actions) = event(&state)
            // Under the lock, so that a device gets its messages in the order in which they were decided.
            for (session, packet) in actions.packets { state.connections[session]?.send([packet]) }
            return (value, actions, actions.closing.compactMap { state.connections[$0] })
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
        let now = self.now
        switch result {
        case .success(let outcome):
            self.perform { $0.machine.written(batch, outcome, isInstalled: self.isInstalled, now: now) }
        case .failure(let error):
            self.services.logger.error("notifications could not be stored", metadata: ["error": "\(error)"])
            self.perform { $0.machine.writeFailed(batch) }
        }
    }

    private func isInstalled(_ message: Message) -> Bool {
        self.services.devices.isInstalled(message.topicHash, on: message.device, in: self.environment)
    }

    private func scheduleWindow() {
        MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: Self.window) {
            self.perform { $0.machine.windowPassed() }
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

    /// Reports the results to the owners, with one call for each run of pushes of the same owner.
    private static func settle(_ submissions: [PendingSubmission], rejection: Reason? = nil) {
        var rest = submissions[...]
        while let owner = rest.first?.owner {
            let run = rest.prefix { $0.owner === owner }
            owner.settled(run.map { SubmissionResult(ticket: $0.ticket, id: $0.id, rejection: rejection) })
            rest = rest.dropFirst(run.count)
        }
    }
}
