import NIOCore
import NIOEmbedded
import NIOTLS
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

/// The handler between bytes and the router.
@Suite(.timeLimit(.patience)) struct BinaryServerHandlerTests {
    @Test func goodNotificationsAreSubmittedInTheirOrderWithoutResponse() async throws {
        let submitter = TestSubmitter()
        let channel = try await Self.channel(
            LegacyFixtures.listener(submitter, identity: .success(LegacyFixtures.identity()))
        )
        try await channel.writeInbound(ByteBuffer(bytes: BinaryVector.good.flatMap(\.bytes)))
        #expect(submitter.pushes.map(\.token.hex) == BinaryVector.good.map { _ in Vectors.tokenA })
        #expect(submitter.pushes.map(\.notification.expiration).dropFirst().first == .at(seconds: 1_700_003_600))
        #expect(try await channel.readOutbound(as: ByteBuffer.self) == nil)
        #expect(channel.isActive)
    }

    @Test func anErrorPacketIsOneWriteAndThenTheWriteSideIsClosed() async throws {
        let submitter = TestSubmitter()
        let channel = try await Self.channel(
            LegacyFixtures.listener(submitter, identity: .success(LegacyFixtures.identity()))
        )
        let foreign = Self.notification(7, token: LegacyFixtures.foreignToken)
        try await channel.writeInbound(ByteBuffer(bytes: BinaryVector.enhanced.bytes + foreign))
        try await channel.writeInbound(ByteBuffer(bytes: BinaryVector.enhanced.bytes))
        let packet = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
        #expect(Hexadecimal.encode(packet.readableBytesView) == "080800000007")
        #expect(submitter.pushes.count == 1)
        try await channel.closeFuture.get()
    }

    @Test(
        arguments: [
            (Result.failure(.badCertificate), "080300000001"),
            (.success(LegacyFixtures.identity(environments: [.production])), "080300000001"),
            (.failure(.forbidden), "08ff00000001"),
        ] as [(Result<CertificateIdentity, Reason>, String)]
    )
    func aBadCertificateIsRejectedAtTheFirstNotification(
        identity: Result<CertificateIdentity, Reason>,
        response: String
    ) async throws {
        let submitter = TestSubmitter()
        let channel = try await Self.channel(LegacyFixtures.listener(submitter, identity: identity))
        try await channel.writeInbound(ByteBuffer(bytes: BinaryVector.enhanced.bytes))
        let packet = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
        #expect(Hexadecimal.encode(packet.readableBytesView) == response)
        #expect(submitter.pushes.isEmpty)
    }

    @Test func anInactiveTokenIsAcceptedSilently() async throws {
        let submitter = TestSubmitter()
        let channel = try await Self.channel(
            LegacyFixtures.listener(submitter, identity: .success(LegacyFixtures.identity()))
        )
        try await channel.writeInbound(ByteBuffer(bytes: Self.notification(1, token: LegacyFixtures.goneToken)))
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        let packet = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
        #expect(Hexadecimal.encode(packet.readableBytesView) == "080a00000001")
        #expect(submitter.gone == [LegacyFixtures.goneToken])
    }

    @Test func whatCannotBeStoredIsAProcessingError() async throws {
        let submitter = TestSubmitter(failing: ["2"])
        let channel = try await Self.channel(
            LegacyFixtures.listener(submitter, identity: .success(LegacyFixtures.identity()))
        )
        let bytes = (1...3).flatMap { Self.notification(UInt32($0), payload: "\($0)") }
        try await channel.writeInbound(ByteBuffer(bytes: bytes))
        let packet = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
        #expect(Hexadecimal.encode(packet.readableBytesView) == "080100000002")
    }

    @Test func noMoreIsTakenWhileTooMuchIsUnsettled() async throws {
        let submitter = TestSubmitter(holds: true)
        let listener = LegacyFixtures.listener(submitter, identity: .success(LegacyFixtures.identity())) {
            $0.inFlight = 2
        }
        let channel = try await Self.channel(listener)
        try await channel.writeInbound(ByteBuffer(bytes: BinaryVector.good.flatMap(\.bytes)))
        #expect(submitter.pushes.count == 2)
        submitter.settleAll()
        await channel.testingEventLoop.run()
        #expect(submitter.pushes.count == 4)
    }

    @Test func whatAClientSentBeforeItClosedIsTaken() async throws {
        let submitter = TestSubmitter(holds: true)
        let listener = LegacyFixtures.listener(submitter, identity: .success(LegacyFixtures.identity())) {
            $0.inFlight = 1
        }
        let channel = try await Self.channel(listener)
        try await channel.writeInbound(ByteBuffer(bytes: BinaryVector.good.flatMap(\.bytes)))
        try await channel.close().get()
        for count in 2...4 {
            submitter.settleAll()
            await channel.testingEventLoop.run()
            #expect(submitter.pushes.count == count)
        }
    }

    @Test func aConnectionWithoutAByteIsClosed() async throws {
        let time = ManualTime()
        let listener = LegacyFixtures.listener(identity: .success(LegacyFixtures.identity()), time: time)
        let channel = try await Self.channel(listener)
        time.advance(by: .seconds(300))
        await channel.testingEventLoop.advanceTime(by: .seconds(300))
        #expect(!channel.isActive)
    }

    private static func channel(_ listener: BinaryListener) async throws -> NIOAsyncTestingChannel {
        let channel = try await NIOAsyncTestingChannel { channel in
            try channel.pipeline.syncOperations.addHandler(BinaryServerHandler(listener: listener) { _ in [1] })
        }
        try await channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        try await channel.testingEventLoop.executeInContext {
            channel.pipeline.syncOperations.fireUserInboundEventTriggered(
                TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil)
            )
        }
        return channel
    }

    /// Command 1.
    private static func notification(
        _ identifier: UInt32,
        token: String = Vectors.tokenA,
        payload: String = Vectors.payload
    ) -> [UInt8] {
        let notification = BinaryNotification(
            token: Hexadecimal.decode(token) ?? [],
            payload: ByteBuffer(string: payload),
            identifier: identifier
        )
        return Array(BinaryFrame(command: .enhanced, notification: notification).encoded.readableBytesView)
    }
}
