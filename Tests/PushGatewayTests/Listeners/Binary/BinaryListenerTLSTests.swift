import NIOCore
import NIOSSL
import PushSender
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

/// The binary listener over TLS, with our own legacy client and with bytes as its peers.
@Suite(.timeLimit(.patience)) struct BinaryListenerTLSTests {
    @Test(arguments: [BinaryCommand.enhanced, .framed])
    func everyNotificationArrivesOnceAndBadOnesAreNamed(command: BinaryCommand) async throws {
        let submitter = TestSubmitter()
        try await LegacyListeners.with(submitter, inFlight: 10) { listeners in
            let bad = Set(stride(from: 3, to: 300, by: 50))
            let time = SubmitterTime(submitter, count: 300 - bad.count)
            let sender = try Self.sender(listeners, time: time) { $0.command = command }
            let outcomes = await sender.send(
                try (0..<300).map { number in
                    try Self.notification(
                        number,
                        to: bad.contains(number) ? LegacyFixtures.foreignToken : Vectors.tokenA
                    )
                }
            )
            let rejected = Outcome.rejected(Rejection(status: 400, reasonText: "BadDeviceToken"))
            #expect(outcomes.indices.filter { outcomes[$0] == rejected } == bad.sorted())
            #expect(outcomes.filter(\.isAccepted).count == 300 - bad.count)
            #expect(submitter.payloads == (0..<300).filter { !bad.contains($0) }.map { "\($0)" })
            await sender.close()
        }
    }

    /// One gateway ends in the middle, another takes its place: nothing is lost, nothing comes twice.
    @Test func aGatewayThatShutsDownNamesTheLastAccepted() async throws {
        let (first, second) = (TestSubmitter(), TestSubmitter())
        let port = try RefusingPort()
        try await LegacyListeners.with(first, inFlight: 5, binaryPort: port.number) { listeners in
            let sender = try Self.sender(listeners, time: SubmitterTime(first, second, count: 2000))
            let notifications = try (0..<2000).map { try Self.notification($0, to: Vectors.tokenA) }
            async let outcomes = sender.send(notifications)
            try await eventually { first.pushes.count >= 10 }
            await listeners.binary.close(draining: true)
            let reopened = try await listeners.reopenBinary(second)
            #expect(await outcomes.filter(\.isAccepted).count == 2000)
            #expect(first.payloads + second.payloads == (0..<2000).map { "\($0)" })
            await sender.close()
            await reopened.close(draining: false)
        }
        withExtendedLifetime(port) {}
    }

    /// The client goes on writing, and still gets the packet whole and an orderly end (APNs reference 5.3.6).
    @Test func theErrorPacketSurvivesWhatTheClientStillWrites() async throws {
        try await LegacyListeners.with { listeners in
            let connection = try await RawConnection.open(
                port: listeners.binaryPort,
                tls: try listeners.authorities.clientTLS()
            )
            connection.write(BinaryVector.enhanced.bytes + BinaryVector.bad[0].bytes)
            for _ in 0..<50 { connection.write(BinaryVector.notifications(1...200)) }
            #expect(Hexadecimal.encode(try await connection.readToOrderlyEnd()) == "080500000002")
        }
    }

    /// The client sends the closure alert of TLS. A notification that fails afterwards is named all the same.
    @Test func aClientThatClosesItsHalfGetsItsErrorPacket() async throws {
        let submitter = TestSubmitter(holds: true)
        try await LegacyListeners.with(submitter) { listeners in
            let connection = try await RawConnection.open(
                port: listeners.binaryPort,
                tls: try listeners.authorities.clientTLS()
            )
            connection.write(BinaryVector.notifications(1...29) + BinaryVector.bad[0].bytes)
            try await eventually { submitter.pushes.count >= 29 }
            try await connection.closeOutput()
            submitter.settleAll()
            let packet = try await connection.readToOrderlyEnd()
            #expect(Hexadecimal.encode(packet) == "080500000002")
        }
    }

    @Test(arguments: [LegacyAuthorities.Client.stranger, .anonymous])
    func anUntrustedClientFailsInTheHandshake(client: LegacyAuthorities.Client) async throws {
        let submitter = TestSubmitter()
        try await LegacyListeners.with(submitter) { listeners in
            let connection = try await RawConnection.open(
                port: listeners.binaryPort,
                tls: try listeners.authorities.clientTLS(client)
            )
            connection.write(BinaryVector.enhanced.bytes)
            await #expect(throws: (any Error).self) { try await connection.readToOrderlyEnd() }
            #expect(submitter.pushes.isEmpty)
        }
    }

    @Test func aCertificateOfTheOtherEnvironmentIsRejected() async throws {
        let submitter = TestSubmitter()
        try await LegacyListeners.with(submitter, environments: [.production]) { listeners in
            let sender = try Self.sender(listeners, time: SubmitterTime(submitter, count: 1))
            let outcomes = await sender.send([try Self.notification(0, to: Vectors.tokenA)])
            #expect(outcomes == [.rejected(Rejection(status: 400, reasonText: "MissingTopic"))])
            #expect(submitter.pushes.isEmpty)
            await sender.close()
        }
    }

    @Test(
        arguments: [
            (TLSVersion.tlsv1, TLSVersion.tlsv1, false, false), (.tlsv1, .tlsv1, true, true),
            (.tlsv11, .tlsv11, true, true), (.tlsv12, .tlsv12, true, true), (.tlsv12, .tlsv13, false, true),
            (.tlsv13, .tlsv13, false, false),
        ]
    )
    func versionsOfTLS(minimum: TLSVersion, maximum: TLSVersion, allowsOldTLS: Bool, works: Bool) async throws {
        try await LegacyListeners.with(allowsOldTLS: allowsOldTLS) { listeners in
            var tls = try listeners.authorities.clientTLS()
            (tls.minimumTLSVersion, tls.maximumTLSVersion) = (minimum, maximum)
            let connection = try await RawConnection.open(port: listeners.binaryPort, tls: tls)
            connection.write([9])
            #expect(await connection.readToEnd() == (works ? [8, 128, 0, 0, 0, 0] : []))
        }
    }

    private static func sender(
        _ listeners: LegacyListeners,
        time: SubmitterTime,
        configure: (inout BinaryConfiguration) -> Void = { _ in }
    ) throws -> BinarySender {
        let connector = try LegacyConnector(
            to: PushServiceEndpoint(host: "127.0.0.1", port: listeners.binaryPort).patient,
            tls: listeners.authorities.clientTLS()
        )
        var configuration = BinaryConfiguration()
        configuration.reconnectBase = .milliseconds(5)
        configuration.reconnectMaximum = .milliseconds(20)
        configuration.quietPeriod = .milliseconds(20)
        configuration.waitTimeout = .seconds(1_000_000)
        configure(&configuration)
        return BinarySender(connector: connector, configuration: configuration, time: time, logger: silentLogger)
    }

    /// Notification `number` has that id and payload.
    private static func notification(_ number: Int, to token: String) throws -> Push {
        let topic = try #require(Topic(Vectors.bundleID))
        let notification = PushNotification(id: "\(number)", topic: topic, payload: ByteBuffer(string: "\(number)"))
        return Push(notification, to: try #require(DeviceToken(hex: token)))
    }
}

/// A clock that stands until the cores have taken `count` notifications, and then goes on at every look: however slow
/// the machine is, silence counts only once everything was taken.
private struct SubmitterTime: TimeSource {
    private let submitters: [TestSubmitter]
    private let count: Int
    private let time = ManualTime()

    init(_ submitters: TestSubmitter..., count: Int) {
        self.submitters = submitters
        self.count = count
    }

    var now: Timestamp {
        if self.submitters.map(\.pushes.count).reduce(0, +) >= self.count { self.time.advance(by: .seconds(1)) }
        return self.time.now
    }

    var steady: Timestamp { self.now }
}

extension Outcome {
    fileprivate var isAccepted: Bool { if case .accepted = self { true } else { false } }
}
