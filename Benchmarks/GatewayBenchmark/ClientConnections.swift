import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// TLS connections to a port of this machine, opened and closed together.
///
/// The server's certificate is not checked: that would be work of the clients, and the same for every server.
final class ClientConnections: Sendable {
    /// Half the cores: the server needs the others.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, System.coreCount / 2))
    /// For all to be ready. Generous: it ends a run that hangs.
    private static let deadline = 120.0

    private let port: Int
    private let alpn: [String]
    private let tally: Tally
    private let channels = Mutex<[any Channel]>([])

    init(port: Int, alpn: [String], tally: Tally) {
        self.port = port
        self.alpn = alpn
        self.tally = tally
    }

    /// Opens `count` connections and waits until their handlers have all said that they are ready.
    /// - Parameter together: how many may be on their way there at the same time.
    /// - Returns: when it began, nanoseconds of the monotonic clock.
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
            try await self.tally.wait(for: "connecting", seconds: Self.deadline) { $0.ready == part.upperBound }
        }
        return start
    }

    /// All at once; returns when all are closed.
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
            // A message is one read; looking for another costs a system call.
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
