import NIOCore
import NIOPosix
import NIOSSL
import PushSender
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Synchronization
import Testing

/// Against a scripted server over TLS. What the server accepted is compared with the outcomes.
@Suite(.timeLimit(.patience)) struct BinarySenderTests {
    let certificate: SelfSignedCertificate

    init() throws {
        self.certificate = try SelfSignedCertificate.shared.get()
    }

    @Test(arguments: BinaryCommand.allCases)
    func whatGetsNoErrorIsAccepted(command: BinaryCommand) async throws {
        try await self.with([.accept], accepting: 50, configure: { $0.command = command }) { peer, sender in
            let outcomes = await sender.send(try Self.notifications(0..<50))
            #expect(outcomes == (0..<50).map { .accepted(.init(id: "\($0)")) })
            #expect(peer.accepted.map(\.payloads) == [Array(0..<50)])
            #expect(peer.accepted.first?.first?.command == command)
        }
    }

    /// The second connection starts with what the first one discarded, and so on: nothing lost, nothing twice.
    @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
    func afterEachErrorPacketTheRestGoesOverTheNextConnection(version: TLSVersion) async throws {
        let scripts: [LegacyPeer.Script] = [
            .reject(after: 700, .invalidToken), .reject(after: 300, .shutdown), .reject(after: 0, .missingPayload),
            .reject(after: 1, .processingError),
        ]
        var tls = try self.certificate.server
        tls.maximumTLSVersion = version
        try await self.with(scripts, server: tls, accepting: 1997) { peer, sender in
            let outcomes = await sender.send(try Self.notifications(0..<2000))
            let rejected = [700, 1001, 1003]
            #expect(peer.accepted.flatMap(\.payloads) == (0..<2000).filter { !rejected.contains($0) })
            #expect(peer.accepted.map(\.count) == [700, 300, 0, 1, 996])
            #expect(outcomes.indices.filter { !outcomes[$0].isAccepted } == rejected)
            #expect(outcomes[700] == .rejected(Rejection(status: 400, reasonText: "BadDeviceToken")))
            #expect(outcomes[1001] == .rejected(Rejection(status: 400, reasonText: "PayloadEmpty")))
            #expect(outcomes[1003] == .rejected(Rejection(status: 500, reasonText: "InternalServerError")))
        }
    }

    @Test func aConnectionOf2009ThatClosesLeavesOutcomesUnknownAndNothingIsSentTwice() async throws {
        try await self.with([.close(after: 5)], accepting: 6, configure: { $0.command = .simple }) { peer, sender in
            let outcomes = await sender.send(try Self.notifications(0..<10))
            #expect(outcomes.allSatisfy { if case .unknown = $0 { true } else { false } })
            #expect(await sender.send(try Self.notifications(10..<11)) == [.accepted(.init(id: "10"))])
            #expect(peer.accepted.map(\.payloads) == [Array(0..<5), [10]])
        }
    }

    @Test func anErrorPacketWithoutIdentifierCausesNoRepetition() async throws {
        try await self.with([.reject(after: 2, .protocolError, identifier: 0)]) { peer, sender in
            let outcomes = await sender.send(try Self.notifications(0..<10))
            #expect(outcomes.allSatisfy { if case .unknown = $0 { true } else { false } })
            await sender.close()
            #expect(peer.accepted.map(\.payloads) == [[0, 1]])
        }
    }

    @Test func aRejectedCertificateCostsOneConnection() async throws {
        try await self.with([.reject(after: 0, .missingTopic)]) { peer, sender in
            let outcomes = await sender.send(try Self.notifications(0..<10))
            #expect(outcomes.first == .rejected(Rejection(status: 400, reasonText: "MissingTopic")))
            #expect(outcomes.dropFirst().allSatisfy { if case .notSent = $0 { true } else { false } })
            #expect(peer.accepted.count == 1)
        }
    }

    @Test func garbageFromTheServerLeavesTheOutcomeUnknown() async throws {
        try await self.with([.writeAndStay(Array("HTTP/1.1 400 Bad Request\r\n".utf8))]) { _, sender in
            let outcome = await sender.send(try Self.notifications(0..<1))
            #expect(outcome == [.unknown(.init("the server does not speak the binary protocol"))])
        }
    }

    @Test func callersWaitForRoomAndAllGetThrough() async throws {
        try await self.with([.reject(after: 40, .invalidToken)], accepting: 399, configure: { $0.maximumWaiting = 3 }) {
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

    @Test func whatTheServerWouldRejectIsNeverWritten() async throws {
        try await self.with([], accepting: 2) { peer, sender in
            var notifications = try Self.notifications(0..<3)
            notifications[1].notification.payload = ByteBuffer(repeating: 0x20, count: 2049)
            let outcomes = await sender.send(notifications)
            #expect(outcomes.map(\.isAccepted) == [true, false, true])
            #expect(outcomes[1] == .rejected(Rejection(status: 413, reasonText: "PayloadTooLarge")))
            #expect(peer.accepted.map(\.payloads) == [[0, 2]])
        }
    }

    @Test func closingWaitsForEveryFinalState() async throws {
        try await self.with([.reject(after: 30, .shutdown)], accepting: 100) { peer, sender in
            let notifications = try Self.notifications(0..<100)
            async let outcomes = sender.send(notifications)
            try await eventually { peer.acceptedCount > 0 }
            await sender.close()
            #expect(peer.accepted.flatMap(\.payloads) == Array(0..<100))
            #expect(await outcomes.filter(\.isAccepted).count == 100)
            let late = await sender.send(try Self.notifications(0..<1))
            #expect(late == [.notSent(.init("the sender is closing"))])
            await sender.close()
        }
    }

    @Test func aServerThatIsNotTrustedGetsNothing() async throws {
        try await self.expectNothingSent(server: try SelfSignedCertificate().server)
    }

    /// With TLS 1.3 the alert comes when notifications may already be written.
    @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
    func aProviderThatIsNotTrustedKnowsThatNothingWasSent(version: TLSVersion) async throws {
        var tls = try self.certificate.server
        tls.maximumTLSVersion = version
        tls.certificateVerification = .noHostnameVerification
        try await self.expectNothingSent(server: tls)
    }

    @Test func withoutAServerACancelledCallersPushesAreNotSent() async throws {
        let port = try RefusingPort()
        defer { withExtendedLifetime(port) {} }
        let sender = BinarySender(
            connector: try self.connector(port: port.number),
            configuration: Self.configuration,
            time: SystemTime(),
            logger: silentLogger
        )
        let notifications = try Self.notifications(0..<3000)
        let task = Task { await sender.send(notifications) }
        task.cancel()
        let outcomes = await task.value
        #expect(outcomes == notifications.map { _ in .notSent(.init("the caller was cancelled")) })
        await sender.close()
    }

    /// A push that waits is taken back alone, whatever becomes of the others of its call.
    @Test func whatWaitsIsTakenBack() async throws {
        try await self.with([], accepting: 5) { peer, sender in
            let pushes = try Self.notifications(0..<10)
            let underWay = Mutex<Int?>(nil)
            let sent = await sender.follow(pushes) { call in
                let count = call.takeBack { $0.isMultiple(of: 2) }
                underWay.withLock { $0 = count }
            }
            #expect(underWay.withLock { $0 } == 0)
            #expect(peer.accepted.map(\.payloads) == [[1, 3, 5, 7, 9]])
            let takenBack = sent.outcomes.indices.filter { sent.outcomes[$0] == .notSent(.takenBack) }
            #expect(takenBack == [0, 2, 4, 6, 8])
        }
    }

    /// What the server discarded is not written again if a stop came meanwhile.
    @Test func whatWasDiscardedIsTakenBack() async throws {
        try await self.with([.reject(after: 2, .invalidToken)], accepting: 4) { peer, sender in
            let pushes = try Self.notifications(0..<10)
            let underWay = Mutex<Int?>(nil)
            let count: @Sendable (Int) -> Void = { count in underWay.withLock { $0 = count } }
            let sent = await sender.follow(pushes) { call in
                peer.beforeRejecting { count(call.takeBack { $0 >= 5 }) }
            }
            #expect(underWay.withLock { $0 } == 5, "all are written")
            #expect(peer.accepted.map(\.payloads) == [[0, 1], [3, 4]])
            #expect(
                sent.outcomes.map(\.isAccepted) == [true, true, false, true, true] + Array(repeating: false, count: 5)
            )
            #expect(Array(sent.outcomes.dropFirst(5)) == Array(repeating: Outcome.notSent(.takenBack), count: 5))
        }
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
            var configuration = Self.configuration
            configuration.quietPeriod = .milliseconds(20)
            configuration.waitTimeout = .seconds(1_000_000)
            configure(&configuration)
            let sender = BinarySender(
                connector: try self.connector(port: port),
                configuration: configuration,
                time: PeerTime(peer, accepting: count),
                logger: silentLogger
            )
            try await body(peer, sender)
            await sender.close()
        }
    }

    /// A connection that comes to nothing, by the real clock: what is sent ends at its deadline.
    private func expectNothingSent(server: TLSConfiguration) async throws {
        try await LegacyPeer.with([], tls: server) { peer, port in
            var configuration = Self.configuration
            configuration.quietPeriod = .seconds(86_400)
            configuration.waitTimeout = .milliseconds(300)
            (configuration.reconnectBase, configuration.reconnectMaximum) = (.seconds(60), .seconds(60))
            let sender = BinarySender(
                connector: try self.connector(port: port),
                configuration: configuration,
                time: SystemTime(),
                logger: silentLogger
            )
            let outcomes = await sender.send(try Self.notifications(0..<3))
            #expect(outcomes.allSatisfy { if case .notSent = $0 { true } else { false } }, "\(outcomes)")
            #expect(peer.accepted.joined().isEmpty)
            await sender.close()
        }
    }

    private func connector(port: Int) throws -> LegacyConnector {
        try LegacyConnector(
            to: PushServiceEndpoint(host: "127.0.0.1", port: port).patient,
            tls: self.certificate.client
        )
    }

    private static var configuration: BinaryConfiguration {
        var configuration = BinaryConfiguration()
        configuration.waitTimeout = .patience
        configuration.reconnectBase = .milliseconds(5)
        configuration.reconnectMaximum = .milliseconds(20)
        return configuration
    }

    /// Notification `n` has the id and the payload `n`.
    static func notifications(_ numbers: Range<Int>) throws -> [Push] {
        let topic = try #require(Topic(Vectors.bundleID))
        let token = try #require(DeviceToken(hex: Vectors.tokenA))
        return numbers.map { number in
            let payload = ByteBuffer(string: "\(number)")
            return Push(PushNotification(id: "\(number)", topic: topic, payload: payload), to: token)
        }
    }
}

extension Outcome {
    fileprivate var isAccepted: Bool { if case .accepted = self { true } else { false } }
}

extension [BinaryFrame] {
    fileprivate var payloads: [Int] { self.compactMap { Int(String(buffer: $0.notification.payload)) } }
}
