import Logging
import NIOCore
import NIOSSL
import PushHTTP
import PushWire

/// One provider connection: carries bytes, answers and time to its machine and does what it says.
///
/// All requests that one turn of the event loop brought are handed over together, and everything that the turn makes is
/// written in one go. While the client does not read its answers, nothing more is read from it.
final class ProviderConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Between two looks at the deadlines, at least.
    private static let shortestTimer: TimeAmount = .milliseconds(10)
    /// Places for requests that a connection keeps which has proven nothing.
    private static let unprovenRequests = 16

    private let logger: Logger
    private let makeReceiver: (ProviderConnectionHandle) -> any ProviderRequestDelegate
    private var machine: HTTP2ServerStateMachine
    private var context: ChannelHandlerContext?
    private var handle: ProviderConnectionHandle?
    private var receiver: (any ProviderRequestDelegate)?
    /// Until the connection has proven itself.
    private var unproven: UnauthenticatedHandler?
    private var timer: Scheduled<Void>?
    private var timerDeadline = NIODeadline.distantFuture
    private var isWritable = true
    private var mustRead = false
    private var isClosing = false
    private var isStalled = false
    /// Kept so that a turn allocates nothing.
    private var requests: [(stream: UInt32, request: ProviderRequest)] = []
    /// Whether a turn is under way, at whose end everything is written.
    private(set) var isInTurn = false

    /// - Parameters:
    ///   - now: of the event loop.
    ///   - makeReceiver: called once, on the event loop, when the connection begins.
    init(
        limits: HTTP2ServerLimits,
        now: NIODeadline,
        logger: Logger,
        makeReceiver: @escaping (ProviderConnectionHandle) -> any ProviderRequestDelegate
    ) {
        self.logger = logger
        self.makeReceiver = makeReceiver
        self.machine = HTTP2ServerStateMachine(limits: limits, now: now)
    }

    // MARK: The channel's events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.unproven = try? context.pipeline.syncOperations.handler(type: UnauthenticatedHandler.self)
        let handle = ProviderConnectionHandle(self, eventLoop: context.eventLoop)
        self.handle = handle
        self.receiver = self.makeReceiver(handle)
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
        self.machine.received(Self.unwrapInboundIn(data), now: context.eventLoop.now)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.work()
    }

    func read(context: ChannelHandlerContext) {
        guard !self.isStalled else { return }
        if self.isWritable { context.read() } else { self.mustRead = true }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.isWritable = context.channel.isWritable
        self.machine.setWritable(self.isWritable, now: context.eventLoop.now)
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
            self.machine.drain(now: context.eventLoop.now)
            self.work()
        case ChannelEvent.inputClosed:
            self.machine.inputEnded(now: context.eventLoop.now)
            self.work()
        case let end as UnauthenticatedEnd:
            self.machine.finish(end.cause == .deadline ? .noError : .enhanceYourCalm, end.cause.rawValue)
            self.work()
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A FIN without the end that TLS asks for: requests say themselves whether they are whole.
        if case NIOSSLError.uncleanShutdown = error { return }
        self.logger.debug("provider connection failed", metadata: ["error": "\(error)"])
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.end()
        context.fireChannelInactive()
    }

    // MARK: What the handle asks

    /// Empties the mailbox, hands requests over, writes.
    func work() {
        // Whatever a turn sets off comes back here at its end.
        guard !self.isInTurn, self.context != nil else { return }
        self.isInTurn = true
        self.emptyMailbox()
        self.handOver()
        self.isInTurn = false
        self.write()
        self.reportHeld()
        self.schedule()
    }

    private func reportHeld() {
        guard let unproven else { return }
        guard unproven.isUnproven else { return self.unproven = nil }
        if self.requests.capacity > Self.unprovenRequests { self.requests = [] }
        let unsent = try? self.context?.channel.syncOptions?.getOption(.bufferedWritableBytes)
        unproven.hold(self.machine.heldBytes + (unsent ?? 0))
    }

    func emptyMailbox() {
        for command in self.handle?.takeCommands() ?? [] { self.perform(command) }
    }

    func answer(_ answers: [(stream: UInt32, answer: ProviderResponse)]) {
        self.machine.answer(answers)
    }

    func perform(_ command: ProviderConnectionHandle.Command) {
        guard let context else { return }
        let now = context.eventLoop.now
        switch command {
        case .answer(let stream, let answer): self.machine.answer(stream, answer)
        case .reset(let stream, let code): self.machine.reset(stream, code)
        case .announce(let limit): self.machine.announce(streamLimit: limit, now: now)
        case .goAway(let code, let debugData, let lastStream):
            self.machine.goAway(code, debugData: debugData, lastStream: lastStream, now: now)
        case .drain: self.machine.drain(now: now)
        case .stall: self.isStalled = true
        case .close:
            self.isClosing = true
            context.closeBothSides()
        }
    }

    // MARK: A turn

    private func handOver() {
        guard let receiver else { return }
        var requests: [(stream: UInt32, request: ProviderRequest)] = []
        swap(&requests, &self.requests)
        self.machine.takeRequests(&requests)
        if !requests.isEmpty { receiver.received(requests) }
        requests.removeAll(keepingCapacity: true)
        swap(&requests, &self.requests)
        let cancelled = self.machine.takeCancelled()
        if !cancelled.isEmpty { receiver.cancelled(cancelled) }
    }

    private func write() {
        guard let context, !self.isClosing else { return }
        if self.isStalled {
            // A fault keeps it silent, not alive for ever.
            if self.machine.phase == .finished {
                self.isClosing = true
                context.closeBothSides()
            }
            return
        }
        let hasFinished = self.machine.phase == .finished
        if self.machine.output.readableBytes > 0, self.isWritable || hasFinished {
            var output = ByteBuffer()
            swap(&output, &self.machine.output)
            context.writeAndFlush(Self.wrapOutboundOut(output), promise: nil)
            // TLS has copied it: the same memory serves the next turn.
            output.clear()
            if output.capacity <= Self.keptCapacity { self.machine.output = output }
        }
        guard hasFinished else { return }
        self.isClosing = true
        self.logEnding()
        context.closeBothSides()
    }

    private static let keptCapacity = 65_536

    private func logEnding() {
        guard let ending = self.machine.ending, ending.code != .noError else { return }
        self.logger.info(
            "provider connection ended",
            metadata: ["code": "\(ending.code.name)", "reason": "\(ending.text)"]
        )
    }

    /// One timer, moved only when something must happen before it.
    private func schedule() {
        let next = self.machine.nextDeadline
        guard let context, next < self.timerDeadline else { return }
        self.timer?.cancel()
        self.timerDeadline = max(next, context.eventLoop.now + Self.shortestTimer)
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: self.timerDeadline) {
            self.timerDeadline = .distantFuture
            self.machine.tick(now: context.eventLoop.now)
            self.work()
        }
    }

    private func end() {
        guard let receiver else { return }
        self.receiver = nil
        self.timer?.cancel()
        self.timer = nil
        self.machine.transportClosed()
        self.handle?.detach()
        self.handle = nil
        receiver.closed()
    }
}
