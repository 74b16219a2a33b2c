import Logging
import NIOCore
import NIOTLS
import PushHTTP
import PushSupport
import PushTypes
import PushWire

/// Translates between bytes and ``DeviceLinkServerStateMachine``: performs its actions in their order.
final class DeviceLinkServerHandler: ChannelInboundHandler, DeadlineConnection {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// How long the last packet may take to leave.
    private static let farewell: TimeAmount = .seconds(5)

    private let door: DeviceLinkListener
    private var machine: DeviceLinkServerStateMachine
    private var session: DeviceLinkListener.Session?
    /// For the TLS handshake; `nil` once it is done.
    private var handshakeDeadline: Timestamp?
    /// While the connection is there.
    private var context: ChannelHandlerContext?
    /// Bytes of answers that the device has asked for since it stopped to read.
    private var unreadAnswers = 0

    init(door: DeviceLinkListener) {
        self.door = door
        let now = door.time.steady
        self.machine = DeviceLinkServerStateMachine(limits: door.limits, now: now)
        self.handshakeDeadline = now.advanced(by: door.handshake)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.door.sweeps.add(self, on: context.eventLoop)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        self.door.sweeps.remove(self, on: context.eventLoop)
    }

    func sweep() {
        guard let context, let deadline = self.machine.nextDeadline else { return }
        let now = self.door.time.steady
        if let handshakeDeadline, handshakeDeadline <= now { return context.close(promise: nil) }
        if deadline <= now { self.perform(self.machine.tick(now: now), context: context) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted = event as? TLSUserEvent { self.handshakeDeadline = nil }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.perform(self.machine.received(Self.unwrapInboundIn(data), now: self.door.time.steady), context: context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            self.unreadAnswers = 0
            self.session?.link.resume()
        }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let session { self.door.router.disconnected(session.device, session: session.id) }
        self.session = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

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

    /// Hands all acknowledgements of one read to the core together.
    private func acknowledge(_ acks: inout [DeviceLinkAcknowledgement]) {
        guard let session, !acks.isEmpty else { return }
        self.door.router.acknowledged(session.device, session: session.id, acks)
        acks = []
    }

    /// A device that asks and does not read must not make the gateway keep ever more for it.
    private func isOwedTooMuch(_ action: DeviceLinkServerStateMachine.Action, context: ChannelHandlerContext) -> Bool {
        guard !context.channel.isWritable else { return false }
        self.unreadAnswers += Self.answerLength(action)
        guard self.unreadAnswers > DeviceLinkListener.outboundLimit else { return false }
        self.door.logger.info("device does not read: connection ends")
        context.close(mode: .all, promise: nil)
        return true
    }

    /// Bytes of what the device gets for it, about.
    private static func answerLength(_ action: DeviceLinkServerStateMachine.Action) -> Int {
        switch action {
        case .send, .mint, .channel: 256
        case .subscribe(let filter):
            256 + 128
                * (filter.enabled.count + filter.opportunistic.count + filter.paused.count + filter.nonWaking.count)
        case .authenticate, .close, .acknowledged, .stateChanged: 0
        }
    }

    private func perform(_ action: DeviceLinkServerStateMachine.Action, context: ChannelHandlerContext) {
        if self.isOwedTooMuch(action, context: context) { return }
        if case .send(let packet) = action {
            return context.writeAndFlush(Self.wrapOutboundOut(packet.encoded), promise: nil)
        }
        if case .authenticate(let connect) = action { return self.authenticate(connect, context: context) }
        if case .close(let reason) = action {
            self.door.logger.debug("device link ended", metadata: ["reason": "\(reason.rawValue)"])
            return self.close(context: context)
        }
        guard let session else { return }
        let router = self.door.router
        switch action {
        case .subscribe(let filter): router.subscribed(session.device, session: session.id, to: filter)
        case .stateChanged(let state):
            router.stateChanged(session.device, session: session.id, isActive: state == .active)
        case .mint(let request):
            let channel = context.channel
            self.door.mint(request, for: session.device) { channel.writeAndFlush($0.packet.encoded, promise: nil) }
        case .channel(let request):
            let response = self.door.channel(request, for: session)
            context.writeAndFlush(Self.wrapOutboundOut(response.packet.encoded), promise: nil)
        case .send, .authenticate, .close, .acknowledged: break
        }
    }

    /// Closes once what was written has left, or the device never learns why; but not later than after ``farewell``.
    private func close(context: ChannelHandlerContext) {
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.farewell) { context.close(promise: nil) }
    }

    private func authenticate(_ connect: DeviceLinkConnect, context: ChannelHandlerContext) {
        let certificate = LegacyTLS.peerCertificate(context)
        let door = self.door
        context.eventLoop.makeFutureWithTask { @concurrent in door.authenticate(connect, tlsCertificate: certificate) }
            .assumeIsolated()
            .whenSuccess { device in
                let session = device.flatMap { door.open($0, connect, channel: context.channel) }
                self.opened(session, context: context)
            }
    }

    private func opened(_ session: DeviceLinkListener.Session?, context: ChannelHandlerContext) {
        guard let session else {
            return self.perform(self.machine.refused(now: self.door.time.now), context: context)
        }
        guard context.channel.isActive else {
            return self.door.router.disconnected(session.device, session: session.id)
        }
        self.session = session
        UnauthenticatedConnections.prove(context.channel)
        let actions = self.machine.authenticated(
            baseToken: session.baseToken,
            isNew: session.isNewToken,
            serverTime: self.door.time.now,
            now: self.door.time.steady
        )
        self.perform(actions, context: context)
    }
}
