import NIOCore
import NIOPosix
import Synchronization

/// An HTTP proxy on a loopback port that opens tunnels, or does what no proxy should.
package final class TestProxy: Sendable {
    /// The behaviour towards every client.
    package enum Behaviour: Sendable {
        /// Opens the tunnel to the port that was asked for, on this host.
        case tunnel
        /// Opens tunnels to requests with these base64 credentials, and answers 407 to others.
        case tunnelFor(credentials: String)
        /// Opens tunnels, except to this port, to which it answers 403.
        case tunnelExcept(port: Int)
        /// Writes this text instead.
        case answer(String)
        /// Writes this text again and again.
        case endless(String)
        /// Closes the connection.
        case close
        /// Never answers.
        case silence
    }

    package let port: Int
    private let server: any Channel
    private let state: ProxyState

    private init(server: any Channel, state: ProxyState) {
        self.port = server.localAddress?.port ?? 0
        (self.server, self.state) = (server, state)
    }

    package static func start(_ behaviour: Behaviour = .tunnel, port: Int = 0) async throws -> TestProxy {
        let state = ProxyState()
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                state.add(channel)
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ProxyRequestHandler(behaviour, state))
                }
            }
            .bind(host: "127.0.0.1", port: port)
            .get()
        return TestProxy(server: server, state: state)
    }

    /// The heads of all requests so far.
    package var requests: [String] { self.state.value.withLock { $0.requests } }
    /// The number of connections so far.
    package var connections: Int { self.state.value.withLock { $0.channels.count } }

    /// Stops listening and cuts every tunnel.
    package func stop() async {
        try? await self.server.close()
        for channel in self.state.value.withLock({ $0.channels }) { try? await channel.close() }
    }
}

/// The connections and requests of a ``TestProxy``.
private final class ProxyState: Sendable {
    let value = Mutex<(channels: [any Channel], requests: [String])>(([], []))

    func add(_ channel: any Channel) { self.value.withLock { $0.channels.append(channel) } }
    func add(_ request: String) { self.value.withLock { $0.requests.append(request) } }
}

/// Reads the head of a request and does what the behaviour says.
private final class ProxyRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let behaviour: TestProxy.Behaviour
    private let state: ProxyState
    private var head = ""
    private var isComplete = false
    /// The bytes after the head, which belong to the tunnel.
    private var early = ByteBuffer()

    init(_ behaviour: TestProxy.Behaviour, _ state: ProxyState) {
        (self.behaviour, self.state) = (behaviour, state)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Self.unwrapInboundIn(data)
        guard !self.isComplete else {
            self.early.writeImmutableBuffer(bytes)
            return
        }
        self.head += String(buffer: bytes)
        guard let end = self.head.utf8.firstRange(of: "\r\n\r\n".utf8) else { return }
        self.isComplete = true
        self.early = ByteBuffer(string: String(self.head[end.upperBound...]))
        self.head = String(self.head[..<end.upperBound])
        self.state.add(self.head)
        let port =
            self.head.split(separator: " ").dropFirst().first?.split(separator: ":").last.flatMap { Int($0) } ?? 0
        switch self.behaviour {
        case .tunnel: self.tunnel(to: port, context: context)
        case .tunnelFor(let credentials):
            guard self.head.contains("\r\nproxy-authorization: Basic \(credentials)\r\n") else {
                return self.write("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", context: context)
            }
            self.tunnel(to: port, context: context)
        case .tunnelExcept(port):
            self.write("HTTP/1.1 403 Forbidden\r\ncontent-length: 5\r\n\r\nsorry", context: context)
        case .tunnelExcept: self.tunnel(to: port, context: context)
        case .answer(let text): self.write(text, context: context)
        case .endless(let text): self.write(String(repeating: text, count: 256), context: context, again: true)
        case .close: context.close(promise: nil)
        case .silence: break
        }
    }

    private func write(_ text: String, context: ChannelHandlerContext, again: Bool = false) {
        let channel = context.channel
        let buffer = ByteBuffer(string: text)
        @Sendable func write() {
            // Not at once, so that a client on the same event loop has its turn.
            channel.writeAndFlush(buffer).whenSuccess {
                if again { channel.eventLoop.scheduleTask(in: .milliseconds(1)) { write() } }
            }
        }
        write()
    }

    private func tunnel(to port: Int, context: ChannelHandlerContext) {
        let (client, state) = (context.channel, self.state)
        let own = NIOLoopBound(self, eventLoop: context.eventLoop)
        ClientBootstrap(group: context.eventLoop).connect(host: "127.0.0.1", port: port).whenComplete { result in
            guard case .success(let server) = result else {
                client.writeAndFlush(ByteBuffer(string: "HTTP/1.1 503 Service Unavailable\r\n\r\n"), promise: nil)
                return
            }
            state.add(server)
            let pipeline = client.pipeline.syncOperations
            try? pipeline.addHandler(TunnelEnd(server))
            try? server.pipeline.syncOperations.addHandler(TunnelEnd(client))
            server.writeAndFlush(own.value.early, promise: nil)
            pipeline.removeHandler(own.value, promise: nil)
            client.writeAndFlush(ByteBuffer(string: "HTTP/1.0 200 Connection established\r\n\r\n"), promise: nil)
        }
    }
}

/// One end of a tunnel: passes bytes and the end on to the other.
private final class TunnelEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel

    init(_ other: any Channel) { self.other = other }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.other.writeAndFlush(Self.unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { self.other.close(promise: nil) }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
