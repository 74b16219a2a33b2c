import Logging
import NIOCore
import NIOSSL
import NIOTLS

/// One HTTP/2 connection to the push service: carries bytes and time to its machine and does what it says.
///
/// It takes work whenever it has free streams, and writes everything that one turn of the event loop brought in one go.
final class PushConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Between two looks at the deadlines.
    private static let tick: TimeAmount = .milliseconds(250)
    /// Pushes started before what they make is written.
    private static let maximumTurn = 256

    let id: Int
    let owner: any ConnectionOwner
    let logger: Logger
    private let authority: String
    private let limits: HTTP2ClientLimits

    private var context: ChannelHandlerContext?
    private var machine: HTTP2ClientStateMachine<PushTicket>?
    private var ticker: RepeatedTask?
    private var providerToken: String?
    private var failure: ConnectionFailure?
    private var hasEnded = false
    private var isGivenUp = false
    private var isWorking = false
    // Kept so that a turn allocates nothing.
    private var events: [HTTP2ClientEvent<PushTicket>] = []
    private var tickets: [PushTicket] = []
    var results: [SendResult] = []
    var isProven = false

    init(id: Int, authority: String, limits: HTTP2ClientLimits, owner: any ConnectionOwner, logger: Logger) {
        self.id = id
        self.authority = authority
        self.limits = limits
        self.owner = owner
        self.logger = logger
    }

    // MARK: The channel's events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted: self.start()
        case ChannelEvent.inputClosed: self.fail(.closedByService)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.machine?.receive(self.unwrapInboundIn(data), now: .now())
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.work()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { self.work() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let isEstablished = self.machine.map { $0.phase != .waitingForSettings } ?? false
        self.fail(ConnectionFailure(error, isEstablished: isEstablished))
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.fail(.closedByService)
        self.end()
    }

    // MARK: What the pool asks

    /// Handles what happened, takes what may be sent, writes.
    func work() {
        // Whatever a turn sets off comes back here at its end.
        guard !self.isWorking, self.machine != nil else { return }
        self.isWorking = true
        self.handleEvents()
        self.takeWork()
        self.write()
        self.isWorking = false
    }

    /// Lets the replies in flight arrive, then closes; at once where the connection does not stand yet.
    func drain() {
        if self.machine == nil {
            self.isGivenUp = true
            self.end()
            self.context?.close(promise: nil)
        } else {
            self.machine?.drain(now: .now())
            self.work()
        }
    }

    // MARK: Life

    private func start() {
        guard self.machine == nil, let context else { return }
        guard !self.hasEnded else { return context.close(promise: nil) }
        self.machine = HTTP2ClientStateMachine(authority: self.authority, limits: self.limits, now: .now())
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        self.ticker = context.eventLoop.scheduleRepeatedTask(initialDelay: Self.tick, delay: Self.tick) { _ in
            bound.value.machine?.tick(now: .now())
            bound.value.work()
        }
        self.write()
    }

    /// The transport cannot go on.
    private func fail(_ failure: ConnectionFailure) {
        // Whatever comes after the machine's own end is a consequence of it.
        if self.failure == nil, self.machine?.phase != .finished { self.failure = failure }
        self.machine?.transportClosed(failure.description)
        self.work()
        self.context?.close(promise: nil)
    }

    /// The machine has finished: what it still has to say is written, then the channel closes.
    func finished(_ cause: RequestFailure?) {
        if cause == nil { self.failure = nil }
        if let cause, self.failure == nil { self.failure = .init(description: cause.failure.description) }
        // TLS may wait for the peer's farewell; work must not.
        self.owner.connectionDrains(self.id, nil)
        self.write()
        self.context?.close(promise: nil)
    }

    /// Tells the pool, once.
    private func end() {
        guard !self.hasEnded else { return }
        self.hasEnded = true
        self.ticker?.cancel()
        self.ticker = nil
        self.handleEvents()
        let isOrderly = self.isGivenUp || self.machine != nil && self.failure == nil
        self.machine = nil
        self.owner.connectionClosed(self.id, isOrderly ? nil : self.failure ?? .closedByService)
    }

    // MARK: Work

    private func handleEvents() {
        var events: [HTTP2ClientEvent<PushTicket>] = []
        swap(&events, &self.events)
        self.machine?.takeEvents(&events)
        if !events.isEmpty {
            self.handle(events)
            events.removeAll(keepingCapacity: true)
        }
        swap(&events, &self.events)
    }

    private func takeWork() {
        guard let context else { return }
        while context.channel.isWritable, let free = self.machine?.freeStreams, free > 0 {
            let asked = min(free, Self.maximumTurn)
            self.owner.takeWork(self.id, limit: asked, into: &self.tickets)
            let isEnough = self.tickets.count < asked
            self.start(self.tickets)
            self.tickets.removeAll(keepingCapacity: true)
            self.handleEvents()
            self.write()
            if isEnough { return }
        }
    }

    private func start(_ tickets: [PushTicket]) {
        guard !tickets.isEmpty else { return }
        do {
            let token = try self.owner.providerToken(self.id)
            if token != self.providerToken {
                self.providerToken = token
                self.machine?.setProviderToken(token)
            }
        } catch {
            let failure = Outcome.Failure("the provider token could not be signed: \(error)")
            var results = ResultCollector(&self.results)
            for ticket in tickets { results.add(ticket, .notSent(failure)) }
            return self.results = results.end()
        }
        let now = NIODeadline.now()
        self.machine?.sendAll(tickets.count, now: now) { (tickets[$0].push, tickets[$0]) }
    }

    private func write() {
        guard let context, var output = self.machine?.output, output.readableBytes > 0 else { return }
        self.machine?.output = ByteBuffer()
        context.writeAndFlush(self.wrapOutboundOut(output), promise: nil)
        // TLS has copied it: the same memory serves the next turn.
        output.clear()
        self.machine?.output = output
    }

    /// For a refusal after which the service wants a new connection.
    func startDraining() {
        self.machine?.drain(now: .now())
    }

    func reportExpiredToken() {
        if let providerToken { self.owner.providerTokenExpired(self.id, providerToken) }
    }
}
