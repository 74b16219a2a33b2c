import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import PushSupport
import PushWire

/// Opens the transport of a connection: TCP, the tunnel of a proxy if one is configured, and TLS with ALPN `h2`. The
/// name is resolved for every connection, which spreads connections over the service's addresses (APNs reference 1.11).
struct Connector: Sendable {
    let endpoint: PushServiceEndpoint
    let proxy: ProxyEndpoint?
    let tls: NIOSSLContext

    /// Opens a channel, and adds the handler `connection` to it, or no handler for `nil`. Call it on the event loop.
    /// - Returns: A future that succeeds after the TLS handshake. Later failures are reported to `connection`.
    func connect(_ connection: (any ChannelHandler)?, on eventLoop: any EventLoop) -> EventLoopFuture<any Channel> {
        let timeout = TimeAmount(self.endpoint.connectTimeout)
        let deadline = NIODeadline.now() + timeout
        let bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(timeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.writeBufferWaterMark, value: .init(low: 64 * 1024, high: 512 * 1024))
        let bound = NIOLoopBound(connection, eventLoop: eventLoop)
        return ProxyEndpoint.connect(
            to: self.endpoint.host,
            port: self.endpoint.port,
            through: self.proxy,
            deadline: deadline,
            on: eventLoop
        ) { bootstrap.connect(host: $0, port: $1) }
        .flatMap { self.secure($0, bound.value, deadline: deadline) }
    }

    private func secure(
        _ channel: any Channel,
        _ connection: (any ChannelHandler)?,
        deadline: NIODeadline
    ) -> EventLoopFuture<any Channel> {
        let done = channel.eventLoop.makePromise(of: Void.self)
        do {
            let handshake = TLSHandshakeHandler(done, deadline: deadline)
            let pipeline = channel.pipeline.syncOperations
            let name = self.endpoint.host.serverName
            try pipeline.addHandler(NIOSSLClientHandler(context: self.tls, serverHostname: name))
            try pipeline.addHandler(handshake)
            if let connection { try pipeline.addHandler(connection) }
        } catch {
            done.fail(error)
            channel.close(promise: nil)
        }
        return done.futureResult.map { channel }
    }
}

/// A handler that completes a promise at the end of the TLS handshake or at a deadline, and then removes itself from
/// the pipeline.
private final class TLSHandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let done: EventLoopPromise<Void>
    private let deadline: NIODeadline
    private var timer: Scheduled<Void>?

    init(_ done: EventLoopPromise<Void>, deadline: NIODeadline) { (self.done, self.deadline) = (done, deadline) }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        let done = self.done
        self.timer = context.eventLoop.scheduleTask(deadline: self.deadline) {
            done.fail(ConnectionError(description: "no TLS handshake within the time limit", cause: .timeout))
            channel.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.done.fail(ConnectionError.closedByServer)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case TLSUserEvent.handshakeCompleted(let negotiated) = event else {
            return context.fireUserInboundEventTriggered(event)
        }
        // Apple also accepts HTTP/2 with prior knowledge, so a missing ALPN result counts as HTTP/2 (APNs reference
        // 1.2).
        if let negotiated, negotiated != "h2" {
            let description = "the server speaks \(negotiated), not h2"
            self.done.fail(ConnectionError(description: description, isLasting: true, cause: .wrongProtocol))
            context.close(promise: nil)
        } else {
            // The connection writes its preface upon this event, so a server with another protocol must not trigger it.
            context.fireUserInboundEventTriggered(event)
            self.done.succeed()
        }
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.done.fail(ConnectionError(error))
        context.fireErrorCaught(error)
    }
}
