import Logging
import NIOCore
import NIOTLS
import PushHTTP
import PushSupport
import PushTypes
import PushWire

/// Connects a channel and the router to ``DeviceLinkServerStateMachine``.
final class DeviceLinkServerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The maximum time for which closing the connection waits for the last packet to be written.
    private static let closeTimeout: TimeAmount = .seconds(5)

    private let listener: DeviceLinkListener
    private var stateMachine: DeviceLinkServerStateMachine
    private var session: DeviceLinkListener.Session?
    /// The deadline of the TLS handshake, or `nil` once the handshake is complete.
    private var handshakeDeadline: Timestamp?
    /// The context of the channel, or `nil` once the handler is removed.
    private var context: ChannelHandlerContext?
    /// The approximate size, in bytes, of the responses that the device has requested and not read.
    private var unreadBytes = 0

    init(listener: DeviceLinkListener) {
        self.listener = listener
        let now = listener.time.steady
        self.stateMachine = DeviceLinkServerStateMachine(limits: listener.limits, now: now)
        self.handshakeDeadline = now.advanced(by: listener.handshake)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.listener.sweeper.add(self, on: context.eventLoop)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        self.listener.sweeper.remove(self, on: context.eventLoop)
    }

    /// Closes the connection if a deadline has passed. This method is called by ``IdleConnectionSweeper`` on the event
    /// loop, because a timer for each of many idle connections would cost too much.
    func sweep() {
        guard let context, let deadline = self.stateMachine.nextDeadline else { return }
        let now = self.listener.time.steady
        if let handshakeDeadline, handshakeDeadline <= now { return context.close(promise: nil) }
        if deadline <= now { self.perform(self.stateMachine.tick(now: now), context: context) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted = event as? TLSUserEvent { self.handshakeDeadline = nil }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let actions = self.stateMachine.receive(Self.unwrapInboundIn(data), now: self.listener.time.steady)
        self.perform(actions, context: context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            self.unreadBytes = 0
            self.session?.mailbox.resume()
        }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let session { self.listener.router.disconnected(session.id) }
        self.session = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func perform(_ actions: [DeviceLinkServerStateMachine.Action], context: ChannelHandlerContext) {
        var acks: [DeviceLinkAcknowledgement] = []
        for action in actions {
            if case .acknowledged(let ack) = action {
                acks.append(ack)
                continue
            }
            self.acknowledge(&acks)
            self.perform(action, context: context)
        }
        self.acknowledge(&acks)
    }

    private func acknowledge(_ acks: inout [DeviceLinkAcknowledgement]) {
        guard let session, !acks.isEmpty else { return }
        self.listener.router.acknowledged(session.id, acks)
        acks = []
    }

    /// Closes the connection of a device that sends requests without reading the responses, which would exhaust memory.
    private func closeIfUnread(_ action: DeviceLinkServerStateMachine.Action, context: ChannelHandlerContext) -> Bool {
        guard !context.channel.isWritable else { return false }
        self.unreadBytes += Self.responseLength(action)
        guard self.unreadBytes > DeviceLinkListener.outboundLimit else { return false }
        self.listener.logger.info("device does not read, connection ends")
        context.close(mode: .all, promise: nil)
        return true
    }

    /// Returns the approximate size, in bytes, of the response that an action causes.
    private static func responseLength(_ action: DeviceLinkServerStateMachine.Action) -> Int {
        switch action {
        case .send, .mint, .channel: 256
        case .subscribe(let filter):
            256 + 128
                * (filter.enabled.count + filter.opportunistic.count + filter.paused.count + filter.nonWaking.count)
        case .authenticate, .close, .acknowledged, .stateChanged: 0
        }
    }

    private func perform(_ action: DeviceLinkServerStateMachine.Action, context: ChannelHandlerContext) {
        if self.closeIfUnread(action, context: context) { return }
        if case .send(let packet) = action {
            return context.writeAndFlush(Self.wrapOutboundOut(packet.encoded), promise: nil)
        }
        if case .authenticate(let connect) = action { return self.authenticate(connect, context: context) }
        if case .close(let reason) = action {
            self.listener.logger.debug("device link ended", metadata: ["reason": "\(reason.rawValue)"])
            return self.close(context: context)
        }
        guard let session else { return }
        let router = self.listener.router
        switch action {
        case .subscribe(let filter): router.subscribed(session.id, to: filter)
        case .stateChanged(let state): router.stateChanged(session.id, isActive: state == .active)
        case .mint(let request):
            let channel = context.channel
            self.listener.mint(request, for: session.id.device) {
                channel.writeAndFlush($0.packet.encoded, promise: nil)
            }
        case .channel(let request):
            let response = self.listener.channel(request, for: session)
            context.writeAndFlush(Self.wrapOutboundOut(response.packet.encoded), promise: nil)
        case .send, .authenticate, .close, .acknowledged: break
        }
    }

    /// Closes the connection once the last packet is written, or after ``closeTimeout``.
    private func close(context: ChannelHandlerContext) {
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.closeTimeout) { context.close(promise: nil) }
    }

    private func authenticate(_ connect: DeviceLinkConnectRequest, context: ChannelHandlerContext) {
        let certificate = LegacyTLS.peerCertificate(context.channel)
        let listener = self.listener
        context.eventLoop.makeFutureWithTask { @concurrent in
            listener.authenticate(connect, tlsCertificate: certificate)
        }
        .assumeIsolated()
        .whenSuccess { device in
            let session = device.flatMap { listener.open($0, connect, channel: context.channel) }
            self.opened(session, context: context)
        }
    }

    /// Begins the session of an authenticated device, or rejects the device.
    /// - Parameter session: The session, or `nil` if the device is rejected.
    private func opened(_ session: DeviceLinkListener.Session?, context: ChannelHandlerContext) {
        guard let session else {
            return self.perform(self.stateMachine.rejected(serverTime: self.listener.time.now), context: context)
        }
        guard context.channel.isActive else {
            return self.listener.router.disconnected(session.id)
        }
        self.session = session
        UnauthenticatedConnectionBudget.markAuthenticated(context.channel)
        let actions = self.stateMachine.authenticated(
            baseToken: session.baseToken,
            isNew: session.isNewToken,
            serverTime: self.listener.time.now,
            now: self.listener.time.steady
        )
        self.perform(actions, context: context)
    }
}
