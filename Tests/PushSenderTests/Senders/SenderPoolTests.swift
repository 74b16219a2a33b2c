import NIOCore
import NIOPosix
import PushSender
import PushTesting
import PushTypes
import Testing

@Suite(.timeLimit(.patience)) struct SenderPoolTests {
    @Test func aPortWithoutAListenerGivesNotSent() async throws {
        let port = try RefusingPort()
        let outcome = try await Self.outcome(port: port.number)
        guard case .notSent(let failure) = outcome else { return #expect(Bool(false), "got \(outcome)") }
        #expect(failure.fault == .init(.refused, host: "127.0.0.1", port: port.number))
        withExtendedLifetime(port) {}
    }

    @Test func aServerWithoutTLSGivesNotSent() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.writeAndFlush(ByteBuffer(string: "HTTP/1.1 400 Bad Request\r\n\r\n")).flatMap {
                    channel.close()
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        let outcome = try await Self.outcome(port: try #require(server.localAddress?.port))
        try await server.close()
        guard case .notSent(let failure) = outcome else { return #expect(Bool(false), "got \(outcome)") }
        #expect(failure.fault != nil)
    }

    @Test func invalidTrustRootsAreRejected() {
        let endpoint = PushServiceEndpoint(host: "localhost", port: 1, additionalTrustRoots: "nonsense")
        #expect(throws: (any Error).self) {
            try SenderPool(endpoints: [.sandbox: endpoint], logger: silentLogger)
        }
    }

    /// Its connections close when it is released, see ``Sender``.
    @Test func aRetiredSenderIsRemovedAndReleased() throws {
        let pool = try SenderPool(logger: silentLogger)
        let credential = PushCredential.token(try ProviderTokenSignerTests.key())
        func sender(_ environment: PushEnvironment, _ lane: SenderLane) throws -> Sender {
            try #require(try pool.sender(for: credential, app: 1, environment: environment, lane: lane) as? Sender)
        }
        weak let idle = try sender(.sandbox, .bulk)
        var busy: Sender? = try sender(.sandbox, .urgent)
        weak let other = try sender(.production, .urgent)
        #expect(idle != nil)
        pool.retire(credential, app: 2, environment: .sandbox)
        #expect(idle != nil)
        pool.retire(credential, app: 1, environment: .sandbox)
        #expect(idle == nil)
        #expect(other != nil)
        // A page in flight has it until it is done.
        #expect(try sender(.sandbox, .urgent) !== busy)
        weak let done = busy
        busy = nil
        #expect(done == nil)
    }

    /// Pushes of one app without responses do not occupy the streams of another app.
    @Test func appsOfATeamShareNoSender() throws {
        let pool = try SenderPool(logger: silentLogger)
        let credential = PushCredential.token(try ProviderTokenSignerTests.key())
        let senders = try (1...2).map { app in
            try #require(try pool.sender(for: credential, app: app, environment: .sandbox, lane: .bulk) as? Sender)
        }
        #expect(senders[0] !== senders[1])
    }

    private static func outcome(port: Int) async throws -> Outcome {
        var endpoint = PushServiceEndpoint(host: "127.0.0.1", port: port)
        endpoint.connectTimeout = .seconds(2)
        var configuration = SenderConfiguration()
        configuration.failsFast = true
        let pool = try SenderPool(
            endpoints: [.sandbox: endpoint],
            configuration: configuration,
            logger: silentLogger
        )
        let sender = try pool.sender(
            for: .token(try ProviderTokenSignerTests.key()),
            app: 1,
            environment: .sandbox,
            lane: .urgent
        )
        let notification = PushNotification(
            id: "eabeae54-14a8-11e5-b60b-1697f925ec7b",
            topic: try #require(Topic(Vectors.bundleID)),
            payload: ByteBuffer(string: Vectors.payload)
        )
        let outcome = await sender.send([Push(notification, to: try #require(DeviceToken(hex: Vectors.tokenA)))]).first
        await pool.close()
        return try #require(outcome)
    }
}
