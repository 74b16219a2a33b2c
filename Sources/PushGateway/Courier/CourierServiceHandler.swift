import Logging
import NIOCore
import NIOSSL
import PushProtocol

/// Translates between bytes and ``CourierServiceMachine``: performs its actions in their order.
final class CourierServiceHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let door: CourierDoor
    private var machine: CourierServiceMachine
    private var session: CourierDoor.Session?
    private var timer: Scheduled<Void>?
    /// Work for the session, done one after the other.
    private var work: AsyncStream<Work>.Continuation?

    private enum Work: Sendable {
        case subscribe(CourierFilter)
        case acknowledged(CourierMessageAck)
        case mint(CourierScopedTokenRequest)
    }

    /// How long the last packet may take to leave.
    private static let farewell: TimeAmount = .seconds(5)

    /// Work that may wait; a device that asks for more loses its connection.
    private static let maximumWork = 4096

    init(door: CourierDoor) {
        self.door = door
        self.machine = CourierServiceMachine(limits: door.limits, now: door.time.now)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.schedule(context: context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.perform(self.machine.received(Self.unwrapInboundIn(data), now: self.door.time.now), context: context)
    }

    /// A device that does not read must not make the gateway keep ever more for it.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if !context.channel.isWritable {
            self.door.logger.info("device does not read: connection ends")
            context.close(mode: .all, promise: nil)
        }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.work?.finish()
        if let session { self.end(session) }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func perform(_ actions: [CourierServiceMachine.Action], context: ChannelHandlerContext) {
        for action in actions {
            switch action {
            case .send(let packet):
                context.writeAndFlush(Self.wrapOutboundOut(packet.encoded), promise: nil)
            case .authenticate(let connect): self.authenticate(connect, context: context)
            case .subscribe(let filter): self.enqueue(.subscribe(filter), context: context)
            case .acknowledged(let ack): self.enqueue(.acknowledged(ack), context: context)
            case .mint(let request): self.enqueue(.mint(request), context: context)
            case .stateChanged: break
            case .close(let reason):
                self.door.logger.debug("device link ended", metadata: ["reason": "\(reason.rawValue)"])
                self.close(context: context)
            }
        }
        self.schedule(context: context)
    }

    /// Closes once what was written has left, or the device never learns why; but not later than after ``farewell``.
    private func close(context: ChannelHandlerContext) {
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.farewell) { context.close(promise: nil) }
    }

    private func authenticate(_ connect: CourierConnect, context: ChannelHandlerContext) {
        let tls = try? context.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)
        let certificate = try? tls?.peerCertificate?.toDERBytes()
        let (door, link) = (self.door, Self.link(to: context.channel))
        context.eventLoop.makeFutureWithTask {
            await door.open(connect, tlsCertificate: certificate, link: link)
        }
        .assumeIsolated()
        .whenSuccess { self.opened($0, context: context) }
    }

    private func opened(_ session: CourierDoor.Session?, context: ChannelHandlerContext) {
        guard let session else {
            return self.perform(self.machine.refused(now: self.door.time.now), context: context)
        }
        guard context.channel.isActive else {
            return self.end(session)
        }
        self.session = session
        self.startWork(session, channel: context.channel)
        let actions = self.machine.authenticated(
            baseToken: session.baseToken,
            isNew: session.isNewToken,
            now: self.door.time.now
        )
        self.perform(actions, context: context)
    }

    private func end(_ session: CourierDoor.Session) {
        let door = self.door
        Task { await door.perform { try await $0.disconnected(session.device, session: session.id) } }
    }

    private func startWork(_ session: CourierDoor.Session, channel: any Channel) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Work.self,
            bufferingPolicy: .bufferingOldest(Self.maximumWork)
        )
        self.work = continuation
        let (door, link) = (self.door, Self.link(to: channel))
        Task {
            for await work in stream {
                switch work {
                case .subscribe(let filter):
                    await door.perform { router in
                        try await router.subscribed(session.device, session: session.id, to: filter.enabled)
                    }
                case .acknowledged(let ack):
                    await door.perform { try await $0.acknowledged(session.device, session: session.id, ack: ack) }
                case .mint(let request):
                    link.send(await door.token(request, for: session).packet)
                }
            }
        }
    }

    private func enqueue(_ work: Work, context: ChannelHandlerContext) {
        if case .dropped = self.work?.yield(work) { context.close(promise: nil) }
    }

    private func schedule(context: ChannelHandlerContext) {
        self.timer?.cancel()
        guard let deadline = self.machine.nextDeadline else { return }
        let delay = max(.zero, deadline.since(self.door.time.now))
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) {
            self.perform(self.machine.tick(now: self.door.time.now), context: context)
        }
    }

    /// Writes from anywhere.
    private static func link(to channel: any Channel) -> Router.Link {
        Router.Link(
            send: { packet in
                channel.eventLoop.execute {
                    channel.writeAndFlush(packet.encoded, promise: nil)
                }
            },
            close: { channel.close(promise: nil) }
        )
    }
}
