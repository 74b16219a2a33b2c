import Logging
import NIOCore
import NIOSSL
import NIOTLS
import PushHTTP
import PushSupport
import PushTypes
import PushWire

/// Translates between a connection, the store and ``FeedbackServerStateMachine``.
final class FeedbackServerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let listener: FeedbackListener
    private let closeHandler: FeedbackCloseHandler?
    private let certificate: (any Channel) -> [UInt8]?
    private var stateMachine: FeedbackServerStateMachine
    private var identity: CertificateIdentity?
    /// The entries that were loaded, in the order in which the state machine counts them.
    private var entries: [FeedbackEntry] = []
    /// Indicates whether the connections of the same topic wait for this one to end.
    private var isReader = false
    private var isBroken = false
    private var isHandshakeDone = false
    private var timer: Scheduled<Void>?

    init(
        listener: FeedbackListener,
        closeHandler: FeedbackCloseHandler? = nil,
        certificate: @escaping (any Channel) -> [UInt8]? = LegacyTLS.peerCertificate
    ) {
        (self.listener, self.closeHandler, self.certificate) = (listener, closeHandler, certificate)
        self.stateMachine = FeedbackServerStateMachine(limits: listener.limits, now: listener.time.steady)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.schedule(context: context) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted:
            self.isHandshakeDone = true
            self.identify(context: context)
        case is ChannelShouldQuiesceEvent: self.perform(self.stateMachine.shutDown(), context: context)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let count = Self.unwrapInboundIn(data).readableBytes
        self.perform(self.stateMachine.receive(byteCount: count), context: context)
    }

    /// Many clients close TCP without the closure alert of TLS, which is valid once they have the whole list.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case NIOSSLError.uncleanShutdown = error { return }
        if !self.isHandshakeDone {
            self.listener.logger.info("TLS handshake failed", metadata: LegacyTLS.metadata(error, "feedback"))
        }
        self.isBroken = true
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.perform(self.stateMachine.connectionClosed(isClean: !self.isBroken), context: context)
        self.leaveQueue(clearing: 0)
        context.fireChannelInactive()
    }

    /// Checks the certificate and waits for the connection's turn.
    private func identify(context: ChannelHandlerContext) {
        switch self.listener.certificates.identity(of: self.certificate(context.channel)) {
        case .success(let identity):
            UnauthenticatedConnections.markAuthenticated(context.channel)
            let queue = self.listener.readerQueue
            context.eventLoop.makeFutureWithTask { await queue.enter(identity.defaultTopic) }
                .assumeIsolated()
                .whenSuccess { isAdmitted in
                    if isAdmitted {
                        self.start(identity, context: context)
                    } else {
                        self.perform(self.stateMachine.failed(), context: context)
                    }
                }
        case .failure(let reason):
            let metadata: Logger.Metadata = ["listener": "feedback", "reason": "\(reason.text)"]
            self.listener.logger.info("certificate rejected", metadata: metadata)
            self.perform(self.stateMachine.failed(), context: context)
        }
    }

    private func start(_ identity: CertificateIdentity, context: ChannelHandlerContext) {
        self.identity = identity
        self.isReader = true
        guard context.channel.isActive else { return self.leaveQueue(clearing: 0) }
        let topics = identity.topics.union([identity.defaultTopic]).sorted { $0.name < $1.name }
        self.perform(self.stateMachine.start(topics, now: self.listener.time.steady), context: context)
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
                    self.closeHandler?.dropsBytes = true
                    self.stateMachine.outputClosed(now: self.listener.time.steady)
                    self.schedule(context: context)
                }
                context.close(mode: .output, promise: closed)
            case .abort: self.abort(context: context)
            case .clear(let count): self.leaveQueue(clearing: count)
            }
        }
        self.schedule(context: context)
    }

    /// Reads a page from the store.
    private func load(_ topic: Topic, after token: DeviceToken?, context: ChannelHandlerContext) {
        guard let identity else { return }
        let listener = self.listener
        let (latest, limit) = (listener.latest(for: identity), listener.limits.page)
        context.eventLoop
            .makeFutureWithTask { try await listener.store.page(topic, after: token, until: latest, limit: limit) }
            .assumeIsolated()
            .whenComplete { result in
                switch result {
                case .success(let entries):
                    self.entries += entries
                    let actions = self.stateMachine.loaded(entries.map(\.tuple), now: listener.time.steady)
                    self.perform(actions, context: context)
                case .failure(let error):
                    listener.logger.error("feedback could not be read", metadata: ["error": "\(error)"])
                    self.perform(self.stateMachine.failed(), context: context)
                }
            }
    }

    private func written(_ result: Result<Void, any Error>, context: ChannelHandlerContext) {
        switch result {
        case .success: self.perform(self.stateMachine.written(now: self.listener.time.steady), context: context)
        case .failure: self.perform(self.stateMachine.failed(), context: context)
        }
    }

    /// Closes TCP below TLS, so that a list that is cut off does not look complete.
    private func abort(context: ChannelHandlerContext) {
        self.isBroken = true
        let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
        (tls ?? context).close(promise: nil)
    }

    /// Ends this connection's turn once the first `count` entries are cleared.
    private func leaveQueue(clearing count: Int) {
        guard self.isReader, let topic = self.identity?.defaultTopic else { return }
        self.isReader = false
        let (listener, entries) = (self.listener, Array(self.entries.prefix(count)))
        Task {
            do {
                if !entries.isEmpty { try await listener.store.clear(entries) }
            } catch {
                // The next connection gets the same entries again.
                listener.logger.error("feedback that was read could not be cleared", metadata: ["error": "\(error)"])
            }
            await listener.readerQueue.leave(topic)
        }
    }

    private func schedule(context: ChannelHandlerContext) {
        self.timer?.cancel()
        guard context.channel.isActive, let deadline = self.stateMachine.nextDeadline else { return }
        let delay = max(.zero, deadline.since(self.listener.time.steady))
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) {
            self.perform(self.stateMachine.tick(now: self.listener.time.steady), context: context)
        }
    }
}

/// Hides the client's bytes from TLS once the whole list is written, so that only the end of TCP ends the connection.
///
/// A client that closes before it has read everything sends the closure alert of TLS first and a TCP reset after it. If
/// the alert counted as the end, a list would be cleared that was not read; the reset shows that.
final class FeedbackCloseHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// Set once all tuples are written: later bytes of the client are dropped.
    var dropsBytes = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !self.dropsBytes { context.fireChannelRead(data) }
    }
}
