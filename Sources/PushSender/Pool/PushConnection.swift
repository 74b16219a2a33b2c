import Logging
import NIOCore
import NIOSSL
import NIOTLS
import PushTypes
import PushWire

/// One HTTP/2 connection to the push service: passes bytes and time to its state machine and performs the results.
///
/// It takes work whenever it has free streams, and writes once for everything that one event of the channel caused.
final class PushConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The interval between two checks of the deadlines.
    private static let tick: TimeAmount = .milliseconds(250)
    /// The number of pushes started before their bytes are written.
    private static let maximumStart = 256
    /// The number of slots whose memory is kept when no push is in flight.
    private static let keptSlots = 4096

    let id: Int
    let delegate: any PushConnectionDelegate
    let logger: Logger
    private let authority: String
    private let limits: HTTP2ClientLimits

    private var context: ChannelHandlerContext?
    /// Is `nil` before the TLS handshake and after the end.
    private var stateMachine: HTTP2ClientStateMachine?
    private var ticker: RepeatedTask?
    private var providerToken: String?
    /// Is `nil` before the TLS handshake.
    private(set) var opened: OpenedConnection?
    private var failure: ConnectionFailure?
    private var hasEnded = false
    private var isAbandoned = false
    private var isWorking = false
    /// The pushes in flight. Their slots are the state machine's tickets.
    var inFlight = SlotTable<PushTicket>(keptSlots: PushConnection.keptSlots)
    // Kept so that the usual event allocates nothing.
    private var events: [HTTP2ClientEvent] = []
    private var tickets: [PushTicket] = []
    var results: [SendResult] = []
    /// Indicates whether the service has answered a request.
    var isConfirmed = false

    init(
        id: Int,
        authority: String,
        limits: HTTP2ClientLimits,
        delegate: any PushConnectionDelegate,
        logger: Logger
    ) {
        (self.id, self.authority, self.limits) = (id, authority, limits)
        (self.delegate, self.logger) = (delegate, logger)
    }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted: self.start()
        case ChannelEvent.inputClosed: self.fail(.closedByServer)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.stateMachine?.receive(self.unwrapInboundIn(data), now: .now())
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.work()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { self.work() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let phase = self.stateMachine?.phase
        self.fail(ConnectionFailure(error, isEstablished: phase != nil && phase != .waitingForSettings))
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.fail(.closedByServer)
        self.end()
    }

    // MARK: Called by the pool

    /// Handles events, takes work and writes.
    func work() {
        // Calls from within end up here again, and are covered by the call in progress.
        guard !self.isWorking, self.stateMachine?.phase != nil else { return }
        self.isWorking = true
        self.handleEvents()
        self.takeWork()
        self.write()
        self.isWorking = false
    }

    /// Closes the connection after the outstanding responses, or at once if it is not established yet.
    func drain() {
        if self.stateMachine?.phase == nil {
            self.isAbandoned = true
            self.end()
            self.context?.close(promise: nil)
        } else {
            self.stateMachine?.drain(now: .now())
            self.work()
        }
    }

    // MARK: Life cycle

    private func start() {
        guard self.stateMachine?.phase == nil, let context else { return }
        guard !self.hasEnded else { return context.close(promise: nil) }
        self.stateMachine = HTTP2ClientStateMachine(authority: self.authority, limits: self.limits, now: .now())
        self.opened = OpenedConnection(
            service: self.authority,
            address: context.channel.remoteAddress.flatMap(\.text),
            localPort: context.channel.localAddress?.port,
            openedAt: self.delegate.wallTime
        )
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        self.ticker = context.eventLoop.scheduleRepeatedTask(initialDelay: Self.tick, delay: Self.tick) { _ in
            bound.value.stateMachine?.tick(now: .now())
            bound.value.work()
        }
        self.write()
    }

    /// Ends the connection after a failure of the transport.
    private func fail(_ failure: ConnectionFailure) {
        // A failure after the state machine's own end is a consequence of it.
        if self.failure == nil, self.stateMachine?.phase != .finished { self.failure = failure }
        self.stateMachine?.transportClosed(failure.description)
        self.work()
        self.context?.close(promise: nil)
    }

    /// Writes the last bytes and closes the channel after the end of the state machine.
    func finished(_ cause: HTTP2RequestFailure?) {
        if cause == nil { self.failure = nil }
        if let cause, self.failure == nil {
            let step: ConnectionFault.Cause = cause == .handshakeTimeout ? .timeout : .closed
            self.failure = .init(description: cause.failure.description, cause: step)
        }
        // TLS may wait for the server's close_notify. Waiting pushes must not.
        self.delegate.connectionIsDraining(self.id, nil)
        self.write()
        self.context?.close(promise: nil)
    }

    /// Reports the end to the pool, once.
    private func end() {
        guard !self.hasEnded else { return }
        self.hasEnded = true
        self.ticker?.cancel()
        self.ticker = nil
        self.handleEvents()
        let isOrderly = self.isAbandoned || self.stateMachine?.phase != nil && self.failure == nil
        self.stateMachine = nil
        self.delegate.connectionClosed(self.id, isOrderly ? nil : self.failure ?? .closedByServer)
    }

    // MARK: Work

    private func handleEvents() {
        var events: [HTTP2ClientEvent] = []
        swap(&events, &self.events)
        self.stateMachine?.takeEvents(&events)
        if !events.isEmpty {
            self.handle(events)
            events.removeAll(keepingCapacity: true)
        }
        swap(&events, &self.events)
    }

    private func takeWork() {
        guard let context else { return }
        while context.channel.isWritable, let free = self.stateMachine?.freeStreams, free > 0 {
            let limit = min(free, Self.maximumStart)
            self.delegate.takeWork(self.id, limit: limit, into: &self.tickets)
            let isLast = self.tickets.count < limit
            self.start(self.tickets)
            self.tickets.removeAll(keepingCapacity: true)
            self.handleEvents()
            self.write()
            if isLast { return }
        }
    }

    private func start(_ tickets: [PushTicket]) {
        guard !tickets.isEmpty else { return }
        do {
            let token = try self.delegate.providerToken(self.id)
            if token != self.providerToken {
                self.providerToken = token
                self.stateMachine?.setProviderToken(token)
            }
        } catch {
            let failure = Outcome.Failure("the provider token could not be signed: \(error)")
            var results = ResultCollector(&self.results, over: nil)
            for ticket in tickets { results.add(ticket, .notSent(failure)) }
            return self.results = results.finish()
        }
        let now = NIODeadline.now()
        self.stateMachine?.send(tickets.count, now: now) { index in
            var ticket = tickets[index]
            ticket.sentAt = now
            return (ticket.push, ticket: self.inFlight.insert(ticket))
        }
    }

    private func write() {
        guard let context, var output = self.stateMachine?.takeOutput() else { return }
        if output.readableBytes > 0 { context.writeAndFlush(self.wrapOutboundOut(output), promise: nil) }
        // TLS has copied the bytes: their memory serves the next ones.
        output.clear()
        self.stateMachine?.reuse(output)
    }

    /// Drains after a response with which the service asks for a new connection.
    func startDraining() {
        self.stateMachine?.drain(now: .now())
    }

    func reportExpiredToken() {
        if let providerToken { self.delegate.providerTokenExpired(self.id, providerToken) }
    }
}

extension SocketAddress {
    /// The address and the port; `nil` for a socket without them.
    fileprivate var text: String? {
        guard let address = self.ipAddress, let port = self.port else { return nil }
        return address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}
