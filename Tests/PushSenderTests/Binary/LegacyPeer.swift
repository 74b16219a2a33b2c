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

/// A legacy push service on a loopback port. Each connection follows the next script; without one it accepts
/// everything.
final class LegacyPeer: Sendable {
    enum Script: Sendable {
        /// Reads everything.
        case accept
        /// Accepts this many notifications, rejects the next with the status, and reads no more. With
        /// ``BinaryStatus/shutdown`` the packet names the last accepted one; `identifier` overrides.
        case reject(after: Int, BinaryStatus, identifier: UInt32? = nil)
        /// Accepts this many, then closes without a packet.
        case close(after: Int)
        /// Writes these bytes one by one, and closes.
        case write([UInt8])
        /// Writes these bytes at once, and nothing more.
        case writeAndStay([UInt8])
    }

    private struct State {
        var scripts: [Script]
        var accepted: [[BinaryFrame]] = []
        var acceptedCount = 0
        var observer: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>

    init(_ scripts: [Script]) {
        self.state = Mutex(State(scripts: scripts))
    }

    /// The accepted notifications by connection.
    var accepted: [[BinaryFrame]] { self.state.withLock { $0.accepted } }

    var acceptedCount: Int { self.state.withLock { $0.acceptedCount } }

    /// Sets what happens before each error packet.
    func beforeRejecting(_ observer: @escaping @Sendable () -> Void) {
        self.state.withLock { $0.observer = observer }
    }

    private func willReject() { self.state.withLock { $0.observer }?() }

    /// Runs `body` with the port of a peer.
    static func with<Value: Sendable>(
        _ scripts: [Script],
        tls: TLSConfiguration,
        _ body: (LegacyPeer, Int) async throws -> Value
    ) async throws -> Value {
        let peer = LegacyPeer(scripts)
        let context = try NIOSSLContext(configuration: tls)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.addHandler(Handler(peer: peer))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        do {
            let value = try await body(peer, try #require(server.localAddress?.port))
            try await server.close()
            return value
        } catch {
            try await server.close()
            throw error
        }
    }

    private func next() -> (Int, Script) {
        self.state.withLock { state in
            state.accepted.append([])
            return (state.accepted.count - 1, state.scripts.isEmpty ? .accept : state.scripts.removeFirst())
        }
    }

    private func accept(_ frame: BinaryFrame, on connection: Int) {
        self.state.withLock { state in
            state.accepted[connection].append(frame)
            state.acceptedCount += 1
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let peer: LegacyPeer
        private var script = Script.accept
        private var connection = 0
        private var count = 0
        private var last: UInt32 = 0
        private var received = ByteBuffer()
        private var isDone = false
        private var hasStarted = false

        init(peer: LegacyPeer) {
            self.peer = peer
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            // The end of the handshake: connections that fail before do not count.
            guard !self.hasStarted else { return }
            self.hasStarted = true
            (self.connection, self.script) = self.peer.next()
            switch self.script {
            case .write(let bytes):
                for byte in bytes {
                    context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(integer: byte)), promise: nil)
                }
                context.close(promise: nil)
            case .writeAndStay(let bytes):
                context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
            case .accept, .reject, .close: break
            }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !self.isDone else { return }
            self.received.writeImmutableBuffer(Self.unwrapInboundIn(data))
            while !self.isDone, let frame = try? BinaryFrame.read(from: &self.received) {
                self.read(frame, context: context)
            }
        }

        private func read(_ frame: BinaryFrame, context: ChannelHandlerContext) {
            switch self.script {
            case .reject(self.count, let status, let identifier):
                self.isDone = true
                self.peer.willReject()
                let named = status == .shutdown ? self.last : frame.notification.identifier
                let packet = BinaryErrorResponse(status: status, identifier: identifier ?? named)
                // The client closes; what it still sends is discarded.
                context.writeAndFlush(Self.wrapOutboundOut(packet.encoded), promise: nil)
            case .close(self.count):
                self.isDone = true
                context.close(promise: nil)
            default:
                self.peer.accept(frame, on: self.connection)
                self.count += 1
                self.last = frame.notification.identifier
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }
}

/// A clock that stands still until a peer has accepted `count` notifications, and then advances by a second at each
/// reading. A quiet period therefore ends only after the peer has responded, however slow the computer is.
struct PeerTime: TimeSource {
    let peer: LegacyPeer
    let count: Int
    private let time = ManualTime()

    init(_ peer: LegacyPeer, accepting count: Int) {
        self.peer = peer
        self.count = count
    }

    var now: Timestamp {
        if self.peer.acceptedCount >= self.count { self.time.advance(by: .seconds(1)) }
        return self.time.now
    }

    var steady: Timestamp { self.now }
}
