import NIOCore
import NIOPosix
import NIOSSL
import PushProtocol
import Synchronization

/// Many devices in this process, each with a TLS connection of its own.
final class Swarm: Sendable {
    /// For all devices to be ready. Generous: it ends a run that hangs.
    private static let deadline = 120.0

    let tally: Tally
    private let port: Int
    private let devices: [PreparedDevice]
    private let channels = Mutex<[any Channel]>([])

    init(port: Int, devices: [PreparedDevice]) {
        self.port = port
        self.devices = devices
        self.tally = Tally(devices: devices.count)
    }

    convenience init(_ options: SwarmOptions, _ devices: ArraySlice<BenchmarkDevice>) throws {
        self.init(port: options.courierPort, devices: try devices.map { try $0.prepared() })
    }

    /// Connects all at once; the proofs of identity are made before the clock starts.
    /// - Returns: when the connecting began, nanoseconds of the monotonic clock. All are ready.
    @discardableResult
    func connect() async throws -> UInt64 {
        var announcement = ByteBuffer()
        CourierFilter(enabled: [TopicHash(Provider.topic)]).packet.write(to: &announcement)
        return try await self.connect(announcement: announcement)
    }

    /// Connects all and asks for their device tokens.
    func fetchTokens() async throws -> [DeviceToken?] {
        var announcement = ByteBuffer()
        CourierScopedTokenRequest(baseToken: nil, topic: TopicHash(Provider.topic)).packet.write(to: &announcement)
        try await self.connect(announcement: announcement)
        return self.tally.counts.tokens
    }

    @discardableResult
    private func connect(announcement: ByteBuffer) async throws -> UInt64 {
        let connects = try self.devices.map { try $0.connect() }
        let tally = self.tally
        let start = Stamp.now
        let connecting = try ClientSockets.connect(port: self.port, count: connects.count, alpn: ["apns-security-v3"]) {
            DeviceHandler(index: $0, connect: connects[$0], announcement: announcement, tally: tally)
        }
        try await self.adopt(connecting)
        let count = self.devices.count
        try await self.tally.wait(for: "connecting", seconds: Self.deadline) { $0.ready == count }
        return start
    }

    private func adopt(_ connecting: [EventLoopFuture<any Channel>]) async throws {
        for future in connecting {
            let channel = try await future.get()
            self.channels.withLock { $0.append(channel) }
        }
    }

    /// All at once; returns when all are closed.
    func disconnect() async {
        let channels = self.channels.withLock { channels in
            defer { channels = [] }
            return channels
        }
        for channel in channels { channel.close(promise: nil) }
        for channel in channels { try? await channel.closeFuture.get() }
    }
}

/// Opens TLS connections to a port of this machine.
///
/// The server's certificate is not checked: that would be work of the devices, and the same for every server.
enum ClientSockets {
    static func connect(
        port: Int,
        count: Int,
        alpn: [String],
        handler: @escaping @Sendable (Int) -> any ChannelHandler
    ) throws -> [EventLoopFuture<any Channel>] {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        tls.applicationProtocols = alpn
        let context = try NIOSSLContext(configuration: tls)
        return (0..<count).map { index in
            ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(.seconds(60))
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: "localhost"))
                        try pipeline.addHandler(handler(index))
                    }
                }
                .connect(host: "127.0.0.1", port: port)
        }
    }
}
