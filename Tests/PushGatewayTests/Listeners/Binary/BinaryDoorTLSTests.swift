import NIOCore
import NIOSSL
import PushSender
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

/// The binary door over TLS, with our own legacy client and with bytes as its peers.
@Suite(.timeLimit(.minutes(5))) struct BinaryDoorTLSTests {
    @Test(arguments: [BinaryCommand.enhanced, .framed])
    func everyNotificationArrivesOnceAndBadOnesAreNamed(command: BinaryCommand) async throws {
        let intake = TestIntake()
        try await LegacyDoors.with(intake, inFlight: 10) { doors in
            let bad = Set(stride(from: 3, to: 300, by: 50))
            let time = TimeOfIntake(intake, count: 300 - bad.count)
            let sender = try Self.sender(doors, time: time) { $0.command = command }
            let outcomes = await sender.send(
                try (0..<300).map { number in
                    try Self.notification(
                        number,
                        to: bad.contains(number) ? LegacyFixtures.foreignToken : Vectors.tokenA
                    )
                }
            )
            let refused = Outcome.rejected(Rejection(status: 400, reasonText: "BadDeviceToken"))
            #expect(outcomes.indices.filter { outcomes[$0] == refused } == bad.sorted())
            #expect(outcomes.filter(\.isAccepted).count == 300 - bad.count)
            #expect(intake.payloads == (0..<300).filter { !bad.contains($0) }.map { "\($0)" })
            await sender.close()
        }
    }

    /// One gateway ends in the middle, another takes its place: nothing is lost, nothing comes twice.
    @Test func aGatewayThatEndsSaysWhereToResume() async throws {
        let (first, second) = (TestIntake(), TestIntake())
        try await LegacyDoors.with(first, inFlight: 5) { doors in
            let sender = try Self.sender(doors, time: TimeOfIntake(first, second, count: 2000))
            let notifications = try (0..<2000).map { try Self.notification($0, to: Vectors.tokenA) }
            async let outcomes = sender.send(notifications)
            while first.pushes.count < 10 { await Task.yield() }
            await doors.binary.close(draining: true)
            let reopened = try await doors.reopenBinary(second)
            #expect(await outcomes.filter(\.isAccepted).count == 2000)
            #expect(first.payloads + second.payloads == (0..<2000).map { "\($0)" })
            await sender.close()
            await reopened.close(draining: false)
        }
    }

    /// The client goes on writing, and still gets the packet whole and an orderly end (reference 5.3.6).
    @Test func theErrorPacketSurvivesWhatTheClientStillWrites() async throws {
        try await LegacyDoors.with { doors in
            let connection = try await RawConnection.open(
                port: doors.binaryPort,
                tls: try doors.authorities.clientTLS()
            )
            connection.write(BinaryVector.enhanced.bytes + BinaryVector.bad[0].bytes)
            for _ in 0..<50 { connection.write(BinaryPeer.notifications(1...200)) }
            #expect(Hexadecimal.encode(try await connection.readToOrderlyEnd()) == "080500000002")
        }
    }

    /// With the end that TLS asks for: what fails after it is told all the same.
    @Test func aClientThatClosesItsHalfGetsItsErrorPacket() async throws {
        let intake = TestIntake(holds: true)
        try await LegacyDoors.with(intake) { doors in
            let connection = try await RawConnection.open(
                port: doors.binaryPort,
                tls: try doors.authorities.clientTLS()
            )
            connection.write(BinaryPeer.notifications(1...29) + BinaryVector.bad[0].bytes)
            while intake.pushes.count < 29 { await Task.yield() }
            try await connection.closeOutput()
            intake.settleAll()
            let packet = try await connection.readToOrderlyEnd()
            #expect(Hexadecimal.encode(packet) == "080500000002")
        }
    }

    @Test(arguments: [LegacyAuthorities.Client.stranger, .nobody])
    func whoIsNotTrustedFailsInTheHandshake(client: LegacyAuthorities.Client) async throws {
        let intake = TestIntake()
        try await LegacyDoors.with(intake) { doors in
            let connection = try await RawConnection.open(
                port: doors.binaryPort,
                tls: try doors.authorities.clientTLS(client)
            )
            connection.write(BinaryVector.enhanced.bytes)
            await #expect(throws: (any Error).self) { try await connection.readToOrderlyEnd() }
            #expect(intake.pushes.isEmpty)
        }
    }

    @Test func aCertificateOfTheOtherEnvironmentIsTold() async throws {
        let intake = TestIntake()
        try await LegacyDoors.with(intake, environments: [.production]) { doors in
            let sender = try Self.sender(doors, time: TimeOfIntake(intake, count: 1))
            let outcomes = await sender.send([try Self.notification(0, to: Vectors.tokenA)])
            #expect(outcomes == [.rejected(Rejection(status: 400, reasonText: "MissingTopic"))])
            #expect(intake.pushes.isEmpty)
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
        try await LegacyDoors.with(allowsOldTLS: allowsOldTLS) { doors in
            var tls = try doors.authorities.clientTLS()
            (tls.minimumTLSVersion, tls.maximumTLSVersion) = (minimum, maximum)
            let connection = try await RawConnection.open(port: doors.binaryPort, tls: tls)
            connection.write([9])
            #expect(await connection.readToEnd() == (works ? [8, 128, 0, 0, 0, 0] : []))
        }
    }

    private static func sender(
        _ doors: LegacyDoors,
        time: TimeOfIntake,
        configure: (inout BinaryConfiguration) -> Void = { _ in }
    ) throws -> BinarySender {
        let tls = try NIOSSLContext(configuration: doors.authorities.clientTLS())
        var configuration = BinaryConfiguration(host: "127.0.0.1", port: doors.binaryPort, tls: tls)
        configuration.reconnect = Backoff(base: .milliseconds(5), maximum: .milliseconds(20))
        configuration.limits.quiet = .milliseconds(20)
        configuration.limits.wait = .seconds(1_000_000)
        configure(&configuration)
        return BinarySender(configuration: configuration, time: time, logger: silentLogger)
    }

    /// Notification `number` has that id and payload.
    private static func notification(_ number: Int, to token: String) throws -> (PushNotification, DeviceToken) {
        let topic = try #require(Topic(Vectors.bundleID))
        let notification = PushNotification(id: "\(number)", topic: topic, payload: ByteBuffer(string: "\(number)"))
        return (notification, try #require(DeviceToken(hex: token)))
    }
}

/// A clock that stands until the cores have taken `count` notifications, and then goes on at every look: however slow the
/// machine is, silence counts only once everything was taken.
private struct TimeOfIntake: TimeSource {
    private let intakes: [TestIntake]
    private let count: Int
    private let time = ManualTime()

    init(_ intakes: TestIntake..., count: Int) {
        self.intakes = intakes
        self.count = count
    }

    var now: Timestamp {
        if self.intakes.map(\.pushes.count).reduce(0, +) >= self.count { self.time.advance(by: .seconds(1)) }
        return self.time.now
    }

    var steady: Timestamp { self.now }
}

extension Outcome {
    fileprivate var isAccepted: Bool { if case .accepted = self { true } else { false } }
}
