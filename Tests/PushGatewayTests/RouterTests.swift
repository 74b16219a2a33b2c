import Foundation
import GRDB
import NIOCore
import PushProtocol
import PushTesting
import Synchronization
import Testing

@testable import PushGateway

/// The stored-message scenarios of reference 8.13 and what surrounds them, on a manual clock.
@Suite(.timeLimit(.minutes(1))) struct RouterTests {
    let time = ManualTime()

    @Test func ofTwoNotificationsOnlyTheNewestIsKept() async throws {
        try await self.withRouter { router, device in
            try await router.submit(device.push("1", expiration: .at(seconds: self.time.now.seconds + 3600)))
            try await router.submit(device.push("2", expiration: .at(seconds: self.time.now.seconds + 3600)))
            #expect(try await device.connect(router).map(\.apnsID) == [device.id("2")])
        }
    }

    @Test func expirationZeroIsNotKept() async throws {
        try await self.withRouter { router, device in
            try await router.submit(device.push("1", expiration: .immediate))
            #expect(try await device.connect(router).isEmpty)
            #expect(try device.eventNames().contains("Discarded – Device Offline, Not To Be Stored"))
        }
    }

    @Test func whatExpiredIsNotDelivered() async throws {
        try await self.withRouter { router, device in
            try await router.submit(device.push("1", expiration: .at(seconds: self.time.now.seconds + 10)))
            self.time.advance(by: .seconds(11))
            #expect(try await device.connect(router).isEmpty)
            #expect(try device.eventNames().last { $0.hasPrefix("Discarded") } == "Discarded – Expired")
        }
    }

    @Test func whatIsExpiredAlreadyIsAcceptedAndDiscarded() async throws {
        try await self.withRouter { router, device in
            try await router.submit(device.push("1", expiration: .at(seconds: 300)))
            #expect(try await device.connect(router).isEmpty)
            #expect(try device.eventNames().contains("Discarded – Expired"))
        }
    }

    @Test func eachTopicKeepsItsOwn() async throws {
        try await self.withRouter { router, device in
            try await router.submit(device.push("1", topic: Vectors.bundleID))
            try await router.submit(device.push("2", topic: "com.example.Other"))
            #expect(try await device.connect(router).map(\.apnsID) == [device.id("1"), device.id("2")])
        }
    }

    @Test(arguments: [(29, true), (31, false)])
    func withoutExpirationStorageEndsAfterThirtyDays(days: Int, isDelivered: Bool) async throws {
        try await self.withRouter { router, device in
            try await router.submit(device.push("1", expiration: .servicePolicy))
            self.time.advance(by: .seconds(days * 86_400))
            try await router.purge()
            #expect(try await device.connect(router).isEmpty == !isDelivered)
        }
    }

    @Test func whatIsNotAcknowledgedComesAgain() async throws {
        try await self.withRouter { router, device in
            let session = try await device.open(router)
            try await router.submit(device.push("1"))
            #expect(device.link.messages.count == 1)
            try await router.disconnected(device.uuid, session: session)
            #expect(try await device.connect(router).map(\.apnsID) == [device.id("1")])
        }
    }

    @Test func whatIsAcknowledgedDoesNotComeAgain() async throws {
        try await self.withRouter { router, device in
            let session = try await device.open(router)
            try await router.submit(device.push("1"))
            let message = try #require(device.link.messages.first)
            try await router.acknowledged(device.uuid, session: session, ack: .init(messageID: message.messageID))
            try await router.disconnected(device.uuid, session: session)
            #expect(try await device.connect(router).isEmpty)
        }
    }

    @Test func anAckOfAReplacedNotificationKeepsTheNewerOne() async throws {
        try await self.withRouter { router, device in
            let session = try await device.open(router)
            try await router.submit(device.push("1"))
            try await router.submit(device.push("2"))
            let first = try #require(device.link.messages.first)
            try await router.acknowledged(device.uuid, session: session, ack: .init(messageID: first.messageID))
            try await router.disconnected(device.uuid, session: session)
            #expect(try await device.connect(router).map(\.apnsID) == [device.id("2")])
        }
    }

    @Test func theNewestSessionWinsAndTheOlderIsClosed() async throws {
        try await self.withRouter { router, device in
            let old = try await device.open(router)
            let oldLink = device.link
            _ = try await device.open(router)
            #expect(oldLink.isClosed)
            try await router.disconnected(device.uuid, session: old)
            #expect(await router.isOnline(device.uuid), "the older session's end does not end the newer one")
        }
    }

    @Test func aTopicOutsideTheFilterWaits() async throws {
        try await self.withRouter { router, device in
            let session = try await device.open(router, topics: [])
            try await router.submit(device.push("1"))
            #expect(device.link.messages.isEmpty)
            try await router.subscribed(device.uuid, session: session, to: device.hashes)
            #expect(device.link.messages.count == 1)
        }
    }

    @Test func unacknowledgedMessagesAreLimitedAndTheRestFollows() async throws {
        try await self.withRouter(unacknowledged: 1) { router, device in
            let session = try await device.open(router)
            try await router.submit(device.push("1", topic: Vectors.bundleID))
            try await router.submit(device.push("2", topic: "com.example.Other"))
            let first = try #require(device.link.messages.first)
            #expect(device.link.messages.count == 1)
            try await router.acknowledged(device.uuid, session: session, ack: .init(messageID: first.messageID))
            #expect(device.link.messages.map(\.apnsID) == [device.id("1"), device.id("2")])
        }
    }

    private func withRouter(
        unacknowledged: Int = 100,
        _ body: (Router, TestDevice) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let database = try GatewayDatabase.open(path: "\(directory)/gateway.sqlite")
            let mint = TokenMint(key: [UInt8](repeating: 1, count: 32))
            let registry = try Registry(
                database: database,
                providers: try ProviderRegistry(database: database),
                mint: mint,
                environment: .sandbox
            )
            var limits = GatewayConfiguration.Limits()
            limits.unacknowledged = unacknowledged
            let router = try Router(
                database: database,
                registry: registry,
                limits: limits,
                time: self.time,
                logger: silentLogger
            )
            let device = TestDevice(database: database)
            try await registry.activate(.init(id: device.uuid, activatedAt: self.time.now))
            try await body(router, device)
        }
    }
}

/// A device at the router's other side.
private final class TestDevice {
    final class Link: Sendable {
        private let state = Mutex<(packets: [CourierPacket], isClosed: Bool)>(([], false))

        var messages: [CourierMessage] { self.state.withLock { $0.packets }.compactMap { CourierMessage($0) } }
        var isClosed: Bool { self.state.withLock { $0.isClosed } }

        var router: Router.Link {
            Router.Link(
                send: { packet in self.state.withLock { $0.packets.append(packet) } },
                close: { self.state.withLock { $0.isClosed = true } }
            )
        }
    }

    let uuid = UUID()
    let database: any DatabaseWriter
    private(set) var link = Link()

    init(database: any DatabaseWriter) {
        self.database = database
    }

    var hashes: [TopicHash] { [Vectors.bundleID, "com.example.Other"].compactMap { Topic($0) }.map(TopicHash.init) }

    func id(_ name: String) -> String { "id-\(name)" }

    func push(
        _ name: String,
        topic: String = Vectors.bundleID,
        expiration: Expiration = .servicePolicy
    ) throws -> AcceptedPush {
        let topic = try #require(Topic(topic))
        return AcceptedPush(
            notification: PushNotification(
                id: self.id(name),
                topic: topic,
                expiration: expiration,
                payload: ByteBuffer(string: Vectors.payload)
            ),
            token: try #require(DeviceToken(hex: Vectors.tokenA)),
            device: self.uuid,
            topicHash: TopicHash(topic)
        )
    }

    func open(_ router: Router, topics: [TopicHash]? = nil) async throws -> RoutingMachine.SessionID {
        self.link = Link()
        let session = try await router.connected(self.uuid, understandsExtensions: true, link: self.link.router)
        try await router.subscribed(self.uuid, session: session, to: topics ?? self.hashes)
        return session
    }

    /// Connects and returns what was waiting.
    func connect(_ router: Router) async throws -> [CourierMessage] {
        _ = try await self.open(router)
        return self.link.messages
    }

    /// Oldest first.
    func eventNames() throws -> [String] {
        try self.database.read { try EventTable(database: $0).events(device: self.uuid, limit: 100) }.map(\.name)
            .reversed()
    }
}
