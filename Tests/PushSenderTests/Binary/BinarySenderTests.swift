import NIOCore
import NIOPosix
import NIOSSL
import PushSender
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Testing

/// Against a scripted service over TLS. What the service accepted is compared with what the caller was told.
@Suite(.timeLimit(.minutes(5))) struct BinarySenderTests {
    let certificate: LegacyCertificate

    init() throws {
        self.certificate = try LegacyCertificate.shared.get()
    }

    @Test(arguments: BinaryCommand.allCases)
    func whatNobodyComplainsAboutIsAccepted(command: BinaryCommand) async throws {
        try await self.with([.accept], accepting: 50, configure: { $0.command = command }) { peer, sender in
            let outcomes = await sender.send(try Self.notifications(0..<50))
            #expect(outcomes == (0..<50).map { .accepted(.init(id: "\($0)")) })
            #expect(peer.accepted.map(\.payloads) == [Array(0..<50)])
            #expect(peer.accepted.first?.first?.command == command)
        }
    }

    /// The second connection starts with what the first one discarded, and so on: nothing lost, nothing twice.
    @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
    func afterEachRefusalTheRestGoesOverTheNextConnection(version: TLSVersion) async throws {
        let scripts: [LegacyPeer.Script] = [
            .refuse(after: 700, .invalidToken), .refuse(after: 300, .shutdown), .refuse(after: 0, .missingPayload),
            .refuse(after: 1, .processingError),
        ]
        var tls = try self.certificate.server
        tls.maximumTLSVersion = version
        try await self.with(scripts, server: tls, accepting: 1997) { peer, sender in
            let outcomes = await sender.send(try Self.notifications(0..<2000))
            let refused = [700, 1001, 1003]
            #expect(peer.accepted.flatMap(\.payloads) == (0..<2000).filter { !refused.contains($0) })
            #expect(peer.accepted.map(\.count) == [700, 300, 0, 1, 996])
            #expect(outcomes.indices.filter { !outcomes[$0].isAccepted } == refused)
            #expect(outcomes[700] == .rejected(Rejection(status: 400, reasonText: "BadDeviceToken")))
            #expect(outcomes[1001] == .rejected(Rejection(status: 400, reasonText: "PayloadEmpty")))
            #expect(outcomes[1003] == .rejected(Rejection(status: 500, reasonText: "InternalServerError")))
        }
    }

    @Test func aConnectionOf2009ThatClosesLeavesDoubtAndNothingIsSentTwice() async throws {
        try await self.with([.close(after: 5)], accepting: 6, configure: { $0.command = .simple }) { peer, sender in
            let outcomes = await sender.send(try Self.notifications(0..<10))
            #expect(outcomes.allSatisfy { if case .unknown = $0 { true } else { false } })
            #expect(await sender.send(try Self.notifications(10..<11)) == [.accepted(.init(id: "10"))])
            #expect(peer.accepted.map(\.payloads) == [Array(0..<5), [10]])
        }
    }

    @Test func anErrorThatNamesNobodyIsNotAnsweredWithARepetition() async throws {
        try await self.with([.refuse(after: 2, .protocolError, identifier: 0)]) { peer, sender in
            let outcomes = await sender.send(try Self.notifications(0..<10))
            #expect(outcomes.allSatisfy { if case .unknown = $0 { true } else { false } })
            await sender.close()
            #expect(peer.accepted.map(\.payloads) == [[0, 1]])
        }
    }

    @Test func aFaultOfTheCertificateCostsOneConnection() async throws {
        try await self.with([.refuse(after: 0, .missingTopic)]) { peer, sender in
            let outcomes = await sender.send(try Self.notifications(0..<10))
            #expect(outcomes.first == .rejected(Rejection(status: 400, reasonText: "MissingTopic")))
            #expect(outcomes.dropFirst().allSatisfy { if case .notSent = $0 { true } else { false } })
            #expect(peer.accepted.count == 1)
        }
    }

    @Test func garbageFromTheServiceLeavesDoubt() async throws {
        try await self.with([.sayAndStay(Array("HTTP/1.1 400 Bad Request\r\n".utf8))]) { _, sender in
            let outcome = await sender.send(try Self.notifications(0..<1))
            #expect(outcome == [.unknown(.init("the peer does not speak the legacy interface"))])
        }
    }

    @Test func callersWaitForRoomAndAllGetThrough() async throws {
        try await self.with([.refuse(after: 40, .invalidToken)], accepting: 399, configure: { $0.limits.waiting = 3 }) {
            peer,
            sender in
            let outcomes = try await withThrowingTaskGroup(of: [Outcome].self) { group in
                for start in stride(from: 0, to: 400, by: 10) {
                    let notifications = try Self.notifications(start..<(start + 10))
                    group.addTask { await sender.send(notifications) }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(outcomes.filter(\.isAccepted).count == 399)
            let payloads = peer.accepted.flatMap(\.payloads)
            #expect(payloads.count == 399)
            #expect(Set(payloads).count == 399)
        }
    }

    @Test func whatTheServiceWouldRefuseNeverLeaves() async throws {
        try await self.with([], accepting: 2) { peer, sender in
            var notifications = try Self.notifications(0..<3)
            notifications[1].0.payload = ByteBuffer(repeating: 0x20, count: 2049)
            let outcomes = await sender.send(notifications)
            #expect(outcomes.map(\.isAccepted) == [true, false, true])
            #expect(outcomes[1] == .rejected(Rejection(status: 413, reasonText: "PayloadTooLarge")))
            #expect(peer.accepted.map(\.payloads) == [[0, 2]])
        }
    }

    @Test func closingWaitsForEveryFinalState() async throws {
        try await self.with([.refuse(after: 30, .shutdown)], accepting: 100) { peer, sender in
            let notifications = try Self.notifications(0..<100)
            async let outcomes = sender.send(notifications)
            while peer.acceptedCount == 0 { await Task.yield() }
            await sender.close()
            #expect(peer.accepted.flatMap(\.payloads) == Array(0..<100))
            #expect(await outcomes.filter(\.isAccepted).count == 100)
            let late = await sender.send(try Self.notifications(0..<1))
            #expect(late == [.notSent(.init("the sender is closing"))])
            await sender.close()
        }
    }

    @Test func aServiceThatIsNotTrustedGetsNothing() async throws {
        try await self.expectNothingSent(server: try LegacyCertificate().server)
    }

    /// With TLS 1.3 the refusal comes when notifications are already on their way.
    @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
    func aProviderThatIsNotTrustedKnowsThatNothingWasSent(version: TLSVersion) async throws {
        var tls = try self.certificate.server
        tls.maximumTLSVersion = version
        tls.certificateVerification = .noHostnameVerification
        try await self.expectNothingSent(server: tls)
    }

    @Test func withoutAServiceACancelledCallerGetsEverythingBack() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        try await server.close()
        let sender = BinarySender(configuration: try self.configuration(port: port), logger: silentLogger)
        let notifications = try Self.notifications(0..<3000)
        let task = Task { await sender.send(notifications) }
        task.cancel()
        let outcomes = await task.value
        #expect(outcomes == notifications.map { _ in .notSent(.init("the caller was cancelled")) })
        await sender.close()
    }

    /// - Parameter accepting: how many notifications the peer accepts in all before silence means anything.
    private func with(
        _ scripts: [LegacyPeer.Script],
        server: TLSConfiguration? = nil,
        accepting count: Int = .max,
        configure: (inout BinaryConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (LegacyPeer, BinarySender) async throws -> Void
    ) async throws {
        try await LegacyPeer.with(scripts, tls: server ?? self.certificate.server) { peer, port in
            var configuration = try self.configuration(port: port)
            configuration.limits.quiet = .milliseconds(20)
            configuration.limits.wait = .seconds(1_000_000)
            configure(&configuration)
            let time = TimeOfPeer(peer, accepting: count)
            let sender = BinarySender(configuration: configuration, time: time, logger: silentLogger)
            try await body(peer, sender)
            await sender.close()
        }
    }

    /// A connection that comes to nothing, by the real clock: what is sent ends at its deadline.
    private func expectNothingSent(server: TLSConfiguration) async throws {
        try await LegacyPeer.with([], tls: server) { peer, port in
            var configuration = try self.configuration(port: port)
            configuration.limits.quiet = .seconds(86_400)
            configuration.limits.wait = .milliseconds(300)
            configuration.reconnect = Backoff(base: .seconds(60), maximum: .seconds(60))
            let sender = BinarySender(configuration: configuration, logger: silentLogger)
            let outcomes = await sender.send(try Self.notifications(0..<3))
            #expect(outcomes.allSatisfy { if case .notSent = $0 { true } else { false } }, "\(outcomes)")
            #expect(peer.accepted.joined().isEmpty)
            await sender.close()
        }
    }

    private func configuration(port: Int) throws -> BinaryConfiguration {
        let tls = try NIOSSLContext(configuration: self.certificate.client)
        var configuration = BinaryConfiguration(host: "127.0.0.1", port: port, tls: tls)
        configuration.reconnect = Backoff(base: .milliseconds(5), maximum: .milliseconds(20))
        return configuration
    }

    /// Notification `n` has the id and the payload `n`.
    static func notifications(_ numbers: Range<Int>) throws -> [(PushNotification, DeviceToken)] {
        let topic = try #require(Topic(Vectors.bundleID))
        let token = try #require(DeviceToken(hex: Vectors.tokenA))
        return numbers.map { number in
            (PushNotification(id: "\(number)", topic: topic, payload: ByteBuffer(string: "\(number)")), token)
        }
    }
}

extension Outcome {
    fileprivate var isAccepted: Bool { if case .accepted = self { true } else { false } }
}

extension [BinaryFrame] {
    fileprivate var payloads: [Int] { self.compactMap { Int(String(buffer: $0.notification.payload)) } }
}
