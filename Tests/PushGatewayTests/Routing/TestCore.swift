import Foundation
import NIOCore
import PushTesting
import PushTypes
import PushWire
import Synchronization
import Testing

@testable import PushGateway

/// The core of a gateway without its listeners, over a database in a temporary folder.
struct TestCore: Sendable {
    let database: GatewayDatabase
    let devices: DeviceRegistry
    let events: EventLog
    let router: MessageRouter
    let makeRouter: @Sendable (PushEnvironment) -> MessageRouter
    let feedback: RecordedFeedback
    let time: ManualTime

    /// Returns the devices as a gateway finds them that starts on the same database.
    func reopenedDevices() throws -> DeviceRegistry {
        try DeviceRegistry(database: self.database, minter: self.devices.minter, events: self.events, time: self.time)
    }

    /// Waits for the result and returns whether the push was accepted.
    func accepts(_ push: AcceptedPush) async throws -> Bool {
        await withCheckedContinuation { continuation in
            let owner = SingleSubmission { continuation.resume(returning: $0) }
            self.router.submit([Submission(push: push, owner: owner, ticket: 0)])
        }
    }

    func submit(_ push: AcceptedPush) async throws {
        #expect(try await self.accepts(push))
    }

    /// Returns the names of a device's events, oldest first.
    func events(_ device: TestDevice) async throws -> [Event.Name] {
        try await self.router.flush()
        return try await self.events.events(EventFilter(device: device.id), limit: 100).map(\.name).reversed()
    }

    /// Adds a device that has two apps.
    func addDevice() async throws -> TestDevice {
        let device = TestDevice()
        try await self.devices.activate(ActivatedDevice(id: device.id, activatedAt: self.time.now))
        for topic in device.topics {
            _ = try await self.devices.token(topic, on: device.id, in: .sandbox, now: self.time.now)
        }
        return device
    }

    /// Returns the number of stored messages.
    func stored() async throws -> Int {
        try await self.router.flush()
        return try await self.database.read { try $0.count(.message, in: .sandbox) }
    }
}

/// Records the feedback that is added.
final class RecordedFeedback: FeedbackSink {
    private let state = Mutex<[(token: DeviceToken, topic: Topic, environment: PushEnvironment, since: Timestamp)]>([])

    var entries: [(token: DeviceToken, topic: Topic, environment: PushEnvironment, since: Timestamp)] {
        self.state.withLock { $0 }
    }

    func add(_ token: DeviceToken, topic: Topic, in environment: PushEnvironment, since: Timestamp) {
        self.state.withLock { $0.append((token, topic, environment, since)) }
    }
}

/// Runs `body` with a core and a device that has two apps.
func withCore(
    _ time: ManualTime,
    limits: RoutingStateMachine.Limits = .init(),
    power: PowerRules = .init(),
    _ body: (TestCore, TestDevice) async throws -> Void
) async throws {
    try await withTemporaryDirectory { directory in
        let database = try GatewayDatabase(path: "\(directory)/gateway.sqlite")
        let events = try EventLog(database: database, limits: .init(), logger: silentLogger)
        let minter = TokenMinter(keys: [[UInt8](repeating: 1, count: 32)])
        let devices = try DeviceRegistry(database: database, minter: minter, events: events, time: time)
        let feedback = RecordedFeedback()
        let services = RoutingServices(
            database: database,
            devices: devices,
            events: events,
            feedback: feedback,
            sequences: MessageSequence(last: 0),
            faults: FaultPlan(),
            time: time,
            logger: silentLogger
        )
        let make: @Sendable (PushEnvironment) -> MessageRouter = { environment in
            let machine = RoutingStateMachine(environment: environment, limits: limits, power: power)
            return MessageRouter(machine: machine, services: services)
        }
        let core = TestCore(
            database: database,
            devices: devices,
            events: events,
            router: make(.sandbox),
            makeRouter: make,
            feedback: feedback,
            time: time
        )
        try await body(core, try await core.addDevice())
    }
}

/// A device that is connected to the core.
final class TestDevice {
    final class Link: DeviceConnection {
        private struct State {
            var packets: [DevicePacket] = []
            var isClosed = false
            var acknowledge: (@Sendable (UInt32) -> Void)?
        }

        private let state = Mutex(State())

        func send(_ packets: [DevicePacket]) {
            let acknowledge = self.state.withLock { state in
                state.packets += packets
                return state.acknowledge
            }
            guard let acknowledge else { return }
            for case .message(_, let id) in packets { Task { acknowledge(id) } }
        }

        /// Acknowledges every message from now on as soon as it is received.
        func acknowledges(_ router: MessageRouter, _ session: DeviceSession.ID) {
            self.state.withLock { state in
                state.acknowledge = {
                    router.acknowledged(session, [DeviceLinkAcknowledgement(messageID: $0)])
                }
            }
        }

        func close() { self.state.withLock { $0.isClosed = true } }

        var isClosed: Bool { self.state.withLock { $0.isClosed } }

        var sent: [(message: Message, id: UInt32)] {
            self.state.withLock { $0.packets }.compactMap {
                if case .message(let message, let id) = $0 { (message, id) } else { nil }
            }
        }

        var messages: [Message] { self.sent.map(\.message) }

        var nothingStored: [TopicHash] {
            self.state.withLock { $0.packets }.flatMap { packet -> [TopicHash] in
                if case .nothingStored(let topics) = packet { topics } else { [] }
            }
        }
    }

    let id = UUID()
    private(set) var link = Link()
    private(set) lazy var session = DeviceSession.ID(device: self.id, number: 0)
    private var acknowledged = 0

    var topics: [Topic] { [Vectors.bundleID, "com.example.Other"].compactMap { Topic($0) } }
    var hashes: [TopicHash] { self.topics.map(TopicHash.init) }

    func push(
        _ id: String,
        topic: String = Vectors.bundleID,
        type: PushType = .alert,
        priority: Priority = .immediate,
        expiration: Expiration = .servicePolicy,
        collapseID: String? = nil
    ) throws -> AcceptedPush {
        let topic = try #require(Topic(topic))
        return AcceptedPush(
            notification: PushNotification(
                id: id,
                topic: topic,
                pushType: type,
                priority: priority,
                expiration: expiration,
                collapseID: collapseID,
                payload: ByteBuffer(string: Vectors.payload)
            ),
            token: try #require(DeviceToken(hex: Vectors.tokenA)),
            device: self.id,
            topicHash: TopicHash(topic)
        )
    }

    /// Connects and returns the ids of the messages that were stored.
    @discardableResult
    func connect(_ core: TestCore, isActive: Bool = true, filter: DeviceLinkFilter? = nil) async throws -> [String] {
        self.link = Link()
        self.acknowledged = 0
        self.session = try #require(core.router.connected(self.id, isActive: isActive, connection: self.link))
        try await self.filter(core, filter ?? DeviceLinkFilter(enabled: self.hashes))
        return self.link.messages.map(\.notification.id)
    }

    func filter(_ core: TestCore, _ filter: DeviceLinkFilter) async throws {
        core.router.subscribed(self.session, to: filter)
        try await core.router.flush()
    }

    func disconnect(_ core: TestCore) { core.router.disconnected(self.session) }

    func acknowledge(_ core: TestCore, _ ids: [UInt32]) {
        core.router.acknowledged(self.session, ids.map { DeviceLinkAcknowledgement(messageID: $0) })
    }

    /// Acknowledges the messages since the last call.
    func acknowledgeAll(_ core: TestCore) {
        let ids = self.link.sent.dropFirst(self.acknowledged).map(\.id)
        self.acknowledged += ids.count
        self.acknowledge(core, ids)
    }
}

extension DeviceRegistry {
    func token(
        _ topic: Topic,
        on device: UUID,
        in environment: PushEnvironment,
        now: Timestamp
    ) async throws -> DeviceToken? {
        try await withCheckedThrowingContinuation { waiter in
            self.token(topic, on: device, in: environment, now: now) { waiter.resume(with: $0) }
        }
    }
}
