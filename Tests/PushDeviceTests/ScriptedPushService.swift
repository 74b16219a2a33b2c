import Logging
import NIOCore
import NIOPosix
import NIOSSL
import PushDevice
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Synchronization
import Testing

/// A push service on a loopback port whose end of each connection is played by the test.
struct ScriptedPushService: Sendable {
    let port: Int
    let certificate: SelfSignedCertificate
    private let connections: AsyncStream<ScriptedConnection>

    /// Runs `body` with a service.
    static func with(
        port: Int = 0,
        _ body: @escaping @Sendable (ScriptedPushService) async throws -> Void
    ) async throws {
        let certificate = try SelfSignedCertificate.shared.get()
        let tls = try NIOSSLContext(configuration: certificate.server)
        let (connections, continuation) = AsyncStream.makeStream(of: ScriptedConnection.self)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let (packets, handler) = AsyncStream.makeStream(of: DeviceLinkPacket.self)
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                    try channel.pipeline.syncOperations.addHandler(PacketCollector(handler))
                    continuation.yield(ScriptedConnection(channel: channel, packets: packets))
                }
            }
            .bind(host: "127.0.0.1", port: port)
            .get()
        let service = ScriptedPushService(
            port: try #require(server.localAddress?.port),
            certificate: certificate,
            connections: connections
        )
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(service))
        } catch {
            result = .failure(error)
        }
        try await server.close()
        try result.get()
    }

    /// Returns the next connection that a device opens.
    func connection() async throws -> ScriptedConnection {
        for await connection in self.connections { return connection }
        throw CancellationError()
    }

    /// Returns the next connection once it has accepted the device.
    func acceptedConnection(baseToken: [UInt8]? = nil) async throws -> ScriptedConnection {
        let connection = try await self.connection()
        _ = try await connection.packet(.connect)
        connection.accept(baseToken: baseToken)
        return connection
    }

    /// Runs a device of this service for the duration of `body`.
    func withDevice(
        authority: SelfSignedCertificate? = nil,
        port: Int? = nil,
        time: any TimeSource = SystemTime(),
        configure: (inout DeviceConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (TestedDevice) async throws -> Void
    ) async throws {
        var configuration = DeviceConfiguration(host: "localhost", port: port ?? self.port)
        configuration.bePatient()
        configure(&configuration)
        let tested = TestedDevice(
            identity: DeviceIdentity(selfSigned: self.certificate, authority: authority),
            configuration: configuration,
            time: time
        )
        try await withServices([tested.device]) { try await body(tested) }
    }
}

extension DeviceIdentity {
    /// Makes an identity whose certificate is self-signed.
    /// - Parameter authority: The certificate that the service must have; `certificate` by default.
    init(selfSigned certificate: SelfSignedCertificate, authority: SelfSignedCertificate? = nil) {
        self.init(
            deviceID: "test",
            certificate: certificate.pem,
            privateKey: certificate.key,
            serviceAuthority: (authority ?? certificate).pem
        )
    }
}

/// One connection to a ``ScriptedPushService``.
struct ScriptedConnection: Sendable {
    private let channel: any Channel
    private let packets: AsyncStream<DeviceLinkPacket>

    init(channel: any Channel, packets: AsyncStream<DeviceLinkPacket>) {
        self.channel = channel
        self.packets = packets
    }

    /// Returns the next packet, or `nil` at the end of the connection.
    func packet() async -> DeviceLinkPacket? {
        for await packet in self.packets { return packet }
        return nil
    }

    /// Returns the next packet of this command; others are skipped.
    func packet(_ command: DeviceLinkCommand) async throws -> DeviceLinkPacket {
        for await packet in self.packets where packet.command == command.rawValue { return packet }
        throw CancellationError()
    }

    func send(_ packet: DeviceLinkPacket) { self.send(packet.encoded) }

    func send(_ bytes: ByteBuffer) { self.channel.writeAndFlush(bytes, promise: nil) }

    func accept(baseToken: [UInt8]? = nil) {
        let now = Timestamp(seconds: 1_700_000_000)
        self.send(DeviceLinkConnectResponse(status: .ok, baseToken: baseToken, serverTime: now).packet)
    }

    func close() async { try? await self.channel.close() }
}

/// A device that records its log messages and reconnects without delay.
struct TestedDevice: Sendable {
    let device: Device
    let log: RecordedLog
    /// The delay before each reconnect, none of which is waited for.
    let delays: AsyncStream<Duration>

    init(identity: DeviceIdentity, configuration: DeviceConfiguration, time: any TimeSource) {
        let log = RecordedLog()
        let (delays, continuation) = AsyncStream.makeStream(of: Duration.self)
        self.log = log
        self.delays = delays
        self.device = Device(
            identity: identity,
            configuration: configuration,
            time: time,
            sleep: { delay in
                continuation.yield(delay)
                await Task.yield()
            },
            logger: log.logger
        )
    }

    /// Returns the delay before the next reconnect: the connection before has ended.
    func delay() async throws -> Duration {
        for await delay in self.delays { return delay }
        throw CancellationError()
    }
}

private final class PacketCollector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let packets: AsyncStream<DeviceLinkPacket>.Continuation
    private var received = ByteBuffer()

    init(_ packets: AsyncStream<DeviceLinkPacket>.Continuation) {
        self.packets = packets
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.received.writeImmutableBuffer(Self.unwrapInboundIn(data))
        while let packet = try? DeviceLinkPacket.read(from: &self.received) { self.packets.yield(packet) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.packets.finish()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
