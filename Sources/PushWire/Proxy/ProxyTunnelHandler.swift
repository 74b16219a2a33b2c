package import NIOCore
import PushSupport
package import PushTypes

extension ProxyEndpoint {
    /// Connects to a host, through the tunnel of a proxy if there is one.
    /// - Parameters:
    ///   - deadline: The time by which the proxy must have opened the tunnel.
    ///   - eventLoop: The event loop of the future if no connection is opened.
    ///   - connect: A closure that opens a connection to a host and port.
    /// - Returns: A future that succeeds on the channel's event loop. Handlers that are added immediately receive all
    ///   bytes from the host. If the proxy fails, the future fails with ``ProxyFailure`` and the channel is closed.
    package static func connect(
        to host: String,
        port: Int,
        through proxy: ProxyEndpoint?,
        deadline: NIODeadline,
        on eventLoop: any EventLoop,
        _ connect: (_ host: String, _ port: Int) -> EventLoopFuture<any Channel>
    ) -> EventLoopFuture<any Channel> {
        guard let proxy else { return connect(host, port) }
        guard !host.isIPAddress else {
            return eventLoop.makeFailedFuture(ProxyFailure(.needsName, proxy: proxy, host: host, port: port))
        }
        return connect(proxy.host, proxy.port)
            .flatMapErrorThrowing { error in
                throw ProxyFailure(.unreachable(ErrorDescription.of(error)), proxy: proxy, host: host, port: port)
            }
            .flatMap { channel in
                ProxyTunnelHandler.open(proxy, on: channel, to: host, port: port, deadline: deadline).map { channel }
            }
    }
}

/// A handler that opens a tunnel through a proxy on a new connection, and then removes itself from the pipeline.
private final class ProxyTunnelHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let proxy: ProxyEndpoint
    private let host: String
    private let port: Int
    private let deadline: NIODeadline
    private var stateMachine = ProxyTunnelStateMachine()
    /// The promise for the open tunnel, or `nil` once it is completed.
    private var opened: EventLoopPromise<Void>?
    private var timer: Scheduled<Void>?
    private var isStarted = false

    private init(
        _ proxy: ProxyEndpoint,
        host: String,
        port: Int,
        deadline: NIODeadline,
        opened: EventLoopPromise<Void>
    ) {
        (self.proxy, self.host, self.port) = (proxy, host, port)
        (self.deadline, self.opened) = (deadline, opened)
    }

    /// Opens a tunnel on a connection to the proxy. Call it on the channel's event loop.
    /// - Returns: A future that succeeds on the channel's event loop once the tunnel is open. Handlers that are added
    ///   immediately receive all bytes from the host. If the proxy fails, the future fails with ``ProxyFailure`` and
    ///   the channel is closed.
    static func open(
        _ proxy: ProxyEndpoint,
        on channel: any Channel,
        to host: String,
        port: Int,
        deadline: NIODeadline
    ) -> EventLoopFuture<Void> {
        let opened = channel.eventLoop.makePromise(of: Void.self)
        let handler = ProxyTunnelHandler(proxy, host: host, port: port, deadline: deadline, opened: opened)
        do {
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            // The channel was already closed.
            opened.fail(ProxyFailure(.closed, proxy: proxy, host: host, port: port))
            channel.close(promise: nil)
        }
        return opened.futureResult
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: self.deadline) {
            self.fail(.timeout, context: context)
        }
        if context.channel.isActive { self.start(context: context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.fail(.closed, context: context) }

    func channelActive(context: ChannelHandlerContext) {
        self.start(context: context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.fail(.closed, context: context)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Bytes after a failure are discarded until the channel is closed.
        guard self.opened != nil else { return }
        switch self.stateMachine.receive(Self.unwrapInboundIn(data)) {
        case .incomplete: break
        case .failed(let cause): self.fail(cause, context: context)
        case .open(let rest):
            self.finish()?.succeed()
            if rest.readableBytes > 0 { context.fireChannelRead(NIOAny(rest)) }
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { self.fail(.closed, context: context) }

    /// Sends the request, but only once. On a new connection, this method is called twice: when the handler is added,
    /// and when the channel becomes active.
    private func start(context: ChannelHandlerContext) {
        guard !self.isStarted else { return }
        self.isStarted = true
        let request = ProxyTunnelStateMachine.request(to: self.host, port: self.port, through: self.proxy)
        context.writeAndFlush(Self.wrapOutboundOut(request), promise: nil)
    }

    private func fail(_ cause: ProxyFailure.Cause, context: ChannelHandlerContext) {
        guard let opened = self.finish() else { return }
        opened.fail(ProxyFailure(cause, proxy: self.proxy, host: self.host, port: self.port))
        context.close(promise: nil)
    }

    /// Cancels the deadline, and returns the promise for the caller to complete, or `nil` after the first call.
    private func finish() -> EventLoopPromise<Void>? {
        self.timer?.cancel()
        defer { self.opened = nil }
        return self.opened
    }
}
