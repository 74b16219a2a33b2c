import Logging
import NIOCore
import NIOSSL
import NIOTLS
import PushHTTP
import PushSupport
import PushTypes
import PushWire

/// Translates between a connection, the store and ``FeedbackServerStateMachine``: performs its actions in their order.
final class FeedbackServerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let door: FeedbackListener
    private let end: FeedbackCloseHandler?
    private let certificate: (ChannelHandlerContext) -> [UInt8]?
    private var machine: FeedbackServerStateMachine
    private var identity: CertificateIdentity?
    /// Whether others of the same topic wait for this connection to end.
    private var hasTurn = false
    private var isBroken = false
    private var isHandshakeDone = false
    private var timer: Scheduled<Void>?

    init(
        door: FeedbackListener,
        end: FeedbackCloseHandler? = nil,
        certificate: @escaping (ChannelHandlerContext) -> [UInt8]? = LegacyTLS.peerCertificate
    ) {
        self.door = door
        self.end = end
        self.certificate = certificate
        self.machine = FeedbackServerStateMachine(limits: door.limits, now: door.time.steady)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.schedule(context: context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted:
            self.isHandshakeDone = true
            self.identify(context: context)
        case is ChannelShouldQuiesceEvent: self.perform(self.machine.shutDown(), context: context)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.perform(self.machine.received(Self.unwrapInboundIn(data).readableBytes), context: context)
    }

    /// Many clients close TCP without the end that TLS asks for; that is in order once the whole list is theirs.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case NIOSSLError.uncleanShutdown = error { return }
        if !self.isHandshakeDone {
            self.door.logger.info("TLS handshake failed", metadata: LegacyTLS.note(error, "feedback"))
        }
        self.isBroken = true
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.perform(self.machine.ended(isOrderly: !self.isBroken), context: context)
        self.leave(after: [])
        context.fireChannelInactive()
    }

    private func identify(context: ChannelHandlerContext) {
        switch self.door.certificates.identity(of: self.certificate(context)) {
        case .success(let identity):
            UnauthenticatedConnections.prove(context.channel)
            let turns = self.door.turns
            context.eventLoop.makeFutureWithTask { await turns.enter(identity.defaultTopic) }
                .assumeIsolated()
                .whenSuccess { isWelcome in
                    if isWelcome {
                        self.start(identity, context: context)
                    } else {
                        self.perform(self.machine.failed(), context: context)
                    }
                }
        case .failure(let reason):
            self.door.logger.info("certificate refused", metadata: ["door": "feedback", "reason": "\(reason.text)"])
            self.perform(self.machine.failed(), context: context)
        }
    }

    private func start(_ identity: CertificateIdentity, context: ChannelHandlerContext) {
        self.identity = identity
        self.hasTurn = true
        guard context.channel.isActive else { return self.leave(after: []) }
        let topics = identity.topics.union([identity.defaultTopic]).sorted { $0.name < $1.name }
        self.perform(self.machine.start(topics, now: self.door.time.steady), context: context)
    }

    private func perform(_ actions: [FeedbackServerStateMachine.Action], context: ChannelHandlerContext) {
        for action in actions {
            switch action {
            case .load(let topic, let token): self.load(topic, after: token, context: context)
            case .write(let buffer):
                context.writeAndFlush(Self.wrapOutboundOut(buffer)).assumeIsolated().whenComplete { result in
                    self.written(result, context: context)
                }
            case .finish:
                let closed = context.eventLoop.makePromise(of: Void.self)
                closed.futureResult.assumeIsolated().whenSuccess {
                    self.end?.isAwaited = true
                    self.machine.outputClosed(now: self.door.time.steady)
                    self.schedule(context: context)
                }
                context.close(mode: .output, promise: closed)
            case .abort: self.abort(context: context)
            case .clear(let entries): self.leave(after: entries)
            }
        }
        self.schedule(context: context)
    }

    private func load(_ topic: Topic, after token: DeviceToken?, context: ChannelHandlerContext) {
        guard let identity else { return }
        let door = self.door
        context.eventLoop.makeFutureWithTask { try await door.page(topic, after: token, for: identity) }
            .assumeIsolated()
            .whenComplete { result in
                switch result {
                case .success(let entries):
                    self.perform(self.machine.loaded(entries, now: door.time.steady), context: context)
                case .failure(let error):
                    door.logger.error("feedback could not be read", metadata: ["error": "\(error)"])
                    self.perform(self.machine.failed(), context: context)
                }
            }
    }

    private func written(_ result: Result<Void, any Error>, context: ChannelHandlerContext) {
        switch result {
        case .success: self.perform(self.machine.written(now: self.door.time.steady), context: context)
        case .failure: self.perform(self.machine.failed(), context: context)
        }
    }

    /// Closes below TLS: a list that is cut off must not look complete.
    private func abort(context: ChannelHandlerContext) {
        self.isBroken = true
        let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
        (tls ?? context).close(promise: nil)
    }

    /// Ends this connection's turn, once `entries` are cleared.
    private func leave(after entries: [FeedbackEntry]) {
        guard self.hasTurn, let topic = self.identity?.defaultTopic else { return }
        self.hasTurn = false
        let door = self.door
        Task {
            if !entries.isEmpty { await door.clear(entries) }
            await door.turns.leave(topic)
        }
    }

    private func schedule(context: ChannelHandlerContext) {
        self.timer?.cancel()
        guard context.channel.isActive, let deadline = self.machine.nextDeadline else { return }
        let delay = max(.zero, deadline.since(self.door.time.steady))
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) {
            self.perform(self.machine.tick(now: self.door.time.steady), context: context)
        }
    }
}
