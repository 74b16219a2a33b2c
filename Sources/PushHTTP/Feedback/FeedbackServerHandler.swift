import Logging
package import NIOCore
import NIOSSL
import NIOTLS
import PushSupport
import PushTypes
import PushWire

/// Connects a channel and a ``FeedbackSource`` with the ``FeedbackServerStateMachine``, which decides what is sent.
package final class FeedbackServerHandler<Source: FeedbackSource>: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private let listener: Source
    private let closeHandler: FeedbackCloseHandler?
    private let certificate: (any Channel) -> [UInt8]?
    private var stateMachine: FeedbackServerStateMachine
    private var identity: Source.Identity?
    private var entries: [Source.Entry] = []
    /// A Boolean value that indicates whether this connection is the one that reads its topic. Other connections for
    /// the topic wait until it leaves the queue.
    private var isReader = false
    private var isBroken = false
    private var isHandshakeDone = false
    private var timer: Scheduled<Void>?

    package init(
        listener: Source,
        closeHandler: FeedbackCloseHandler? = nil,
        certificate: @escaping (any Channel) -> [UInt8]? = LegacyTLS.peerCertificate
    ) {
        (self.listener, self.closeHandler, self.certificate) = (listener, closeHandler, certificate)
        self.stateMachine = FeedbackServerStateMachine(limits: listener.limits, now: listener.time.steady)
    }

    package func handlerAdded(context: ChannelHandlerContext) { self.schedule(context: context) }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted:
            self.isHandshakeDone = true
            self.identify(context: context)
        case is ChannelShouldQuiesceEvent: self.perform(self.stateMachine.shutDown(), context: context)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let count = Self.unwrapInboundIn(data).readableBytes
        self.perform(self.stateMachine.receive(byteCount: count), context: context)
    }

    /// Ignores a missing TLS closure alert. Many clients omit it, which is valid once they have the whole list.
    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case NIOSSLError.uncleanShutdown = error { return }
        if !self.isHandshakeDone {
            self.listener.logger.info("TLS handshake failed", metadata: LegacyTLS.metadata(error, "feedback"))
        }
        self.isBroken = true
        context.close(promise: nil)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.perform(self.stateMachine.connectionClosed(isClean: !self.isBroken), context: context)
        self.leaveQueue(clearing: 0)
        context.fireChannelInactive()
    }

    private func identify(context: ChannelHandlerContext) {
        let (listener, certificate) = (self.listener, self.certificate(context.channel))
        context.eventLoop.makeFutureWithTask { await listener.identify(certificate) }
            .assumeIsolated()
            .whenSuccess { result in
                switch result {
                case .success(let identity): self.waitForTurn(identity, context: context)
                case .failure(let rejection):
                    let metadata: Logger.Metadata = ["listener": "feedback", "reason": "\(rejection)"]
                    listener.logger.info("certificate rejected", metadata: metadata)
                    self.perform(self.stateMachine.failed(), context: context)
                }
            }
    }

    private func waitForTurn(_ identity: Source.Identity, context: ChannelHandlerContext) {
        UnauthenticatedConnectionBudget.markAuthenticated(context.channel)
        let (queue, topic) = (self.listener.readerQueue, self.listener.queue(of: identity))
        context.eventLoop.makeFutureWithTask { await queue.enter(topic) }
            .assumeIsolated()
            .whenSuccess { isAdmitted in
                if isAdmitted {
                    self.start(identity, context: context)
                } else {
                    self.perform(self.stateMachine.failed(), context: context)
                }
            }
    }

    private func start(_ identity: Source.Identity, context: ChannelHandlerContext) {
        self.identity = identity
        self.isReader = true
        guard context.channel.isActive else { return self.leaveQueue(clearing: 0) }
        let topics = self.listener.topics(of: identity)
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
            case .finish(let pause):
                context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(pause)) { self.finish(context: context) }
            case .abort: self.abort(context: context)
            case .clear(let count): self.leaveQueue(clearing: count)
            }
        }
        self.schedule(context: context)
    }

    private func finish(context: ChannelHandlerContext) {
        guard context.channel.isActive, !self.isBroken else { return }
        let closed = context.eventLoop.makePromise(of: Void.self)
        closed.futureResult.assumeIsolated().whenSuccess {
            self.closeHandler?.dropsBytes = true
            self.stateMachine.outputClosed(now: self.listener.time.steady)
            self.schedule(context: context)
        }
        context.close(mode: .output, promise: closed)
    }

    private func load(_ topic: Topic, after token: DeviceToken?, context: ChannelHandlerContext) {
        guard let identity else { return }
        let listener = self.listener
        let limit = listener.limits.page
        context.eventLoop
            .makeFutureWithTask { try await listener.page(topic, of: identity, after: token, limit: limit) }
            .assumeIsolated()
            .whenComplete { result in
                switch result {
                case .success(let entries):
                    self.entries += entries
                    let actions = self.stateMachine.loaded(entries.map(listener.tuple), now: listener.time.steady)
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

    /// Closes TCP without a TLS closure alert, so that the client does not take a truncated list for a complete one.
    private func abort(context: ChannelHandlerContext) {
        self.isBroken = true
        let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
        (tls ?? context).close(promise: nil)
    }

    private func leaveQueue(clearing count: Int) {
        guard self.isReader, let topic = self.identity.map(self.listener.queue) else { return }
        self.isReader = false
        let (listener, entries) = (self.listener, Array(self.entries.prefix(count)))
        Task {
            do {
                if !entries.isEmpty { try await listener.clear(entries) }
            } catch {
                // The entries are sent again on the next connection.
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

/// Hides the client's bytes from TLS once the whole list was written, so that only the end of the TCP connection
/// counts.
///
/// A client that closes before it has read everything sends a TLS closure alert, followed by a TCP reset. If the alert
/// were taken for the end, an unread list would be cleared. The reset shows that the list was not read.
package final class FeedbackCloseHandler: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer

    /// A Boolean value that indicates whether the client's bytes are dropped, because all tuples were written.
    var dropsBytes = false

    package init() {}

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !self.dropsBytes { context.fireChannelRead(data) }
    }
}
