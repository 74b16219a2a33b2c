import Logging
import NIOCore
import NIOSSL
import PushHTTP
import PushWire

/// Handles one provider connection. It passes bytes, responses and time to a state machine, and performs the results.
///
/// All requests of one read are passed to the delegate together, and their output is written together. While the client
/// does not read its responses, nothing more is read from the connection.
final class ProviderConnectionHandler<Delegate: ProviderRequestDelegate>: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The minimum time between two checks of the deadlines.
    private static var shortestTimer: TimeAmount { .milliseconds(10) }
    /// The maximum capacity, in events, of the buffer that an unauthenticated connection keeps. A larger one is freed.
    private static var unauthenticatedEvents: Int { 16 }
    /// The maximum capacity, in bytes, of an output buffer that is kept for reuse. A larger one is freed.
    private static var keptCapacity: Int { 65_536 }

    private let logger: Logger
    private let retryAfter: Int?
    private var delegate: Delegate
    private var stateMachine: HTTP2ServerStateMachine
    private var context: ChannelHandlerContext?
    /// The proxy through which the delegate calls this handler, or `nil` unless the connection is active.
    private var handle: ProviderConnectionProxy?
    /// The handler that limits unauthenticated connections, or `nil` once the connection is authenticated.
    private var unauthenticated: UnauthenticatedConnectionHandler?
    private var timer: Scheduled<Void>?
    private var timerDeadline = NIODeadline.distantFuture
    private var isWritable = true
    private var mustRead = false
    private var isClosing = false
    private var isStalled = false
    private(set) var isWorking = false
    private var events: [HTTP2ServerEvent] = []

    /// Creates the handler of one connection.
    /// - Parameters:
    ///   - now: The time of the event loop.
    ///   - retryAfter: The value of `retry-after` in responses with status 429, in seconds, or `nil` to omit the field.
    init(limits: HTTP2ServerLimits, now: NIODeadline, retryAfter: Int? = nil, logger: Logger, delegate: Delegate) {
        (self.logger, self.retryAfter, self.delegate) = (logger, retryAfter, delegate)
        self.stateMachine = HTTP2ServerStateMachine(limits: limits, now: now)
    }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.unauthenticated = try? context.pipeline.syncOperations.handler(type: UnauthenticatedConnectionHandler.self)
        let handle = ProviderConnectionProxy(self, eventLoop: context.eventLoop, retryAfter: self.retryAfter)
        self.handle = handle
        self.delegate.connectionOpened(handle)
        if context.channel.isActive { self.work() }
    }

    func channelActive(context: ChannelHandlerContext) {
        self.work()
        context.fireChannelActive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.end()
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.stateMachine.receive(Self.unwrapInboundIn(data), now: context.eventLoop.now)
    }

    func channelReadComplete(context: ChannelHandlerContext) { self.work() }

    func read(context: ChannelHandlerContext) {
        guard !self.isStalled else { return }
        if self.isWritable { context.read() } else { self.mustRead = true }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.isWritable = context.channel.isWritable
        self.stateMachine.setWritable(self.isWritable, now: context.eventLoop.now)
        self.work()
        if self.isWritable, self.mustRead {
            self.mustRead = false
            context.read()
        }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            self.stateMachine.drain(now: context.eventLoop.now)
            self.work()
        case ChannelEvent.inputClosed:
            self.stateMachine.inputClosed(now: context.eventLoop.now)
            self.work()
        case let end as UnauthenticatedEnd:
            self.stateMachine.finish(end.cause == .deadline ? .noError : .enhanceYourCalm, end.cause.rawValue)
            self.work()
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A FIN without TLS's close_notify: requests themselves have an end.
        if case NIOSSLError.uncleanShutdown = error { return }
        self.logger.debug("provider connection failed", metadata: ["error": "\(error)"])
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.end()
        context.fireChannelInactive()
    }

    // MARK: Work

    private func deliverEvents() {
        var events: [HTTP2ServerEvent] = []
        swap(&events, &self.events)
        // The delegate's commands may cause events of their own.
        self.stateMachine.takeEvents(&events)
        while !events.isEmpty, self.handle != nil {
            if case .finished(let end) = events.last { self.logEnd(end) }
            self.delegate.receive(events)
            self.stateMachine.takeEvents(&events)
        }
        swap(&events, &self.events)
    }

    private func reportHeldBytes() {
        guard let context, let unauthenticated else { return }
        if self.delegate.isAuthenticated { UnauthenticatedConnectionBudget.markAuthenticated(context.channel) }
        guard unauthenticated.isUnauthenticated else { return self.unauthenticated = nil }
        if self.events.capacity > Self.unauthenticatedEvents { self.events = [] }
        let unsent = try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)
        unauthenticated.hold(self.stateMachine.heldBytes + (unsent ?? 0))
    }

    private func write() {
        guard let context, !self.isClosing else { return }
        let hasFinished = self.stateMachine.hasFinished
        if !self.isStalled, self.stateMachine.hasOutput, self.isWritable || hasFinished {
            var output = self.stateMachine.takeOutput()
            context.writeAndFlush(Self.wrapOutboundOut(output), promise: nil)
            // TLS has copied the bytes: their memory serves the next ones.
            output.clear()
            if output.capacity <= Self.keptCapacity { self.stateMachine.reuse(output) }
        }
        // A stalled connection is silent, and ends with its state machine nevertheless.
        guard hasFinished else { return }
        self.isClosing = true
        context.closeBothSides()
    }

    private func logEnd(_ end: HTTP2ConnectionEnd) {
        guard end.code != .noError, !self.isStalled, !self.isClosing else { return }
        self.logger.info("provider connection ended", metadata: ["code": "\(end.code.name)", "reason": "\(end.text)"])
    }

    /// Schedules the connection's only timer, or moves it to an earlier time.
    private func schedule() {
        let next = self.stateMachine.nextDeadline
        guard let context, next < self.timerDeadline else { return }
        self.timer?.cancel()
        self.timerDeadline = max(next, context.eventLoop.now + Self.shortestTimer)
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: self.timerDeadline) {
            self.timerDeadline = .distantFuture
            self.stateMachine.tick(now: context.eventLoop.now)
            self.work()
        }
    }

    private func end() {
        guard let handle = self.handle.take() else { return }
        self.timer?.cancel()
        self.timer = nil
        self.stateMachine.transportClosed()
        handle.connectionClosed()
    }
}

// MARK: Commands

extension ProviderConnectionHandler: ProviderCommandHandler {
    func work() {
        // Calls from within end up here again, and are covered by the call in progress.
        guard !self.isWorking, self.context != nil else { return }
        self.isWorking = true
        for command in self.handle?.takeCommands() ?? [] { self.perform(command) }
        self.deliverEvents()
        self.isWorking = false
        self.write()
        self.reportHeldBytes()
        self.schedule()
    }

    func respond(_ responses: [(stream: UInt32, response: ProviderResponse)]) { self.stateMachine.respond(responses) }

    func perform(_ command: ProviderConnectionProxy.Command) {
        guard let context else { return }
        let now = context.eventLoop.now
        switch command {
        case .respond(let stream, let response): self.stateMachine.respond(stream, response)
        case .reset(let stream, let code): self.stateMachine.reset(stream, code)
        case .announce(let limit): self.stateMachine.announce(streamLimit: limit, now: now)
        case .goAway(let code, let debugData, let lastStream):
            self.stateMachine.goAway(code, debugData: debugData, lastStream: lastStream, now: now)
        case .stall: self.isStalled = true
        case .close:
            self.isClosing = true
            context.closeBothSides()
        }
    }
}

/// The receiver of the requests of one provider connection. This method is called on the connection's event loop.
protocol ProviderRequestDelegate {
    /// A Boolean value that indicates whether the client has presented a valid credential.
    var isAuthenticated: Bool { get }

    /// Informs the delegate that the connection is active. This method is called once, before all other methods.
    mutating func connectionOpened(_ handle: ProviderConnectionProxy)

    /// Receives the events of one read, in order. Responses that are sent during this call share one write. Later
    /// responses may be sent on any thread, through the connection's ``ProviderConnectionProxy``.
    mutating func receive(_ events: [HTTP2ServerEvent])
}
