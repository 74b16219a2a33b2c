import Logging
package import NIOCore
import NIOSSL
import NIOTLS
import PushSupport
import PushTypes
import PushWire

/// Translates between a connection, the lists of a ``FeedbackSource`` and ``FeedbackServerStateMachine``.
package final class FeedbackServerHandler<Source: FeedbackSource>: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private let listener: Source
    private let closeHandler: FeedbackCloseHandler?
    private let certificate: (any Channel) -> [UInt8]?
    private var stateMachine: FeedbackServerStateMachine
    private var identity: Source.Identity?
    /// The entries that were loaded, in the order in which the state machine counts them.
    private var entries: [Source.Entry] = []
    /// Indicates whether it is this connection's turn to read, so that other connections of the same topic wait for its
    /// end.
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

    /// Many clients close TCP without the closure alert of TLS, which is valid once they have the whole list.
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

    /// Checks the client's certificate, then waits for this connection's turn or aborts.
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

    /// Closes the write side, unless the connection has ended since the last tuple was written.
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

    /// Loads a page of a topic's list from the source.
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

    /// Closes TCP without the closure alert of TLS, so that a list that is cut off does not look complete.
    private func abort(context: ChannelHandlerContext) {
        self.isBroken = true
        let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
        (tls ?? context).close(promise: nil)
    }

    /// Ends this connection's turn once the first `count` entries are cleared.
    private func leaveQueue(clearing count: Int) {
        guard self.isReader, let topic = self.identity.map(self.listener.queue) else { return }
        self.isReader = false
        let (listener, entries) = (self.listener, Array(self.entries.prefix(count)))
        Task {
            do {
                if !entries.isEmpty { try await listener.clear(entries) }
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
/// the alert counted as the end, an unread list would be cleared. The reset shows that it is unread.
package final class FeedbackCloseHandler: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer

    /// Indicates whether the client's bytes are dropped, because all tuples are written.
    var dropsBytes = false

    package init() {}

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !self.dropsBytes { context.fireChannelRead(data) }
    }
}
