import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// TLS connections to a port on localhost, which are opened and closed together.
///
/// The server's certificate is not verified: that would be work of the clients, and the same for every server.
final class ClientConnections: Sendable {
    /// The event loops, on half the cores: the server needs the others.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, System.coreCount / 2))
    /// The time limit until all are ready, in seconds. It is long, because it only ends a run that hangs.
    private static let deadline = 120.0

    private let port: Int
    private let alpn: [String]
    private let counters: ConnectionCounters
    private let channels = Mutex<[any Channel]>([])

    init(port: Int, alpn: [String], counters: ConnectionCounters) {
        self.port = port
        self.alpn = alpn
        self.counters = counters
    }

    /// Opens `count` connections and waits until all their handlers are ready.
    /// - Parameter together: the number of connections that are opened at the same time.
    /// - Returns: the start, in nanoseconds of the monotonic clock.
    func open(
        _ count: Int,
        together: Int,
        handler: @escaping @Sendable (Int) -> any ChannelHandler
    ) async throws -> UInt64 {
        let tls = try self.makeTLS()
        let start = Stamp.now
        var opened = 0
        while opened < count {
            let part = opened..<opened + min(together, count - opened)
            let connecting = part.map { self.connect(tls, handler, index: $0) }
            for future in connecting {
                let channel = try await future.get()
                self.channels.withLock { $0.append(channel) }
            }
            opened = part.upperBound
            try await self.counters.wait(for: "connecting", seconds: Self.deadline) { $0.ready == part.upperBound }
        }
        return start
    }

    /// Closes all connections at once and waits until they are closed.
    func close() async {
        let channels = self.channels.withLock { channels in
            defer { channels = [] }
            return channels
        }
        for channel in channels { channel.close(promise: nil) }
        for channel in channels { try? await channel.closeFuture.get() }
    }

    private func makeTLS() throws -> NIOSSLContext {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        tls.applicationProtocols = self.alpn
        return try NIOSSLContext(configuration: tls)
    }

    private func connect(
        _ tls: NIOSSLContext,
        _ handler: @escaping @Sendable (Int) -> any ChannelHandler,
        index: Int
    ) -> EventLoopFuture<any Channel> {
        ClientBootstrap(group: Self.group)
            .connectTimeout(.seconds(60))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            // A message is one read. A second read would cost a system call.
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: "localhost"))
                    try pipeline.addHandler(handler(index))
                }
            }
            .connect(host: "127.0.0.1", port: self.port)
    }
}
