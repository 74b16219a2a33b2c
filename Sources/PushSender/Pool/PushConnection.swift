import Logging
import NIOCore
import NIOTLS
import PushTypes
import PushWire

/// One HTTP/2 connection to the push service, which passes bytes and the time to its state machine, and performs the
/// resulting actions. It takes work whenever it has free streams, and combines everything that one channel event causes
/// into one write.
final class PushConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let tick: TimeAmount = .milliseconds(250)
    /// The maximum number of pushes that are started before their bytes are written.
    private static let maximumStart = 256
    /// The maximum number of table slots whose memory is kept while no push is in flight.
    private static let keptSlots = 4096

    private let id: Int
    private let delegate: any PushConnectionDelegate
    private let logger: Logger
    private let authority: String
    private let limits: HTTP2ClientLimits

    private var context: ChannelHandlerContext?
    /// The state machine, or `nil` before the TLS handshake and after the connection has ended.
    private var stateMachine: HTTP2ClientStateMachine?
    private var ticker: RepeatedTask?
    private var providerToken: String?
    /// The description of the connection to which the transmissions of its pushes refer, or `nil` before the handshake.
    private var opened: OpenedConnection?
    private var failure: ConnectionError?
    private var hasEnded = false
    private var isAbandoned = false
    private var isWorking = false
    /// The pushes in flight. The state machine's tickets are indices into this table.
    private var inFlight = SlotTable<PushTicket>(keptSlots: PushConnection.keptSlots)
    // The arrays are kept so that the usual event allocates nothing.
    private var events: [HTTP2ClientEvent] = []
    private var tickets: [PushTicket] = []
    private var results: [SendResult] = []
    private var isConfirmed = false

    init(id: Int, authority: String, limits: HTTP2ClientLimits, delegate: any PushConnectionDelegate, logger: Logger) {
        (self.id, self.authority, self.limits) = (id, authority, limits)
        (self.delegate, self.logger) = (delegate, logger)
    }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

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

    func channelReadComplete(context: ChannelHandlerContext) { self.work() }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { self.work() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let phase = self.stateMachine?.phase
        self.fail(ConnectionError(error, isEstablished: phase != nil && phase != .waitingForSettings))
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.fail(.closedByServer)
        self.end()
    }

    // MARK: Called by the pool

    func work() {
        // Nested calls end here, and are covered by the call in progress.
        guard !self.isWorking, self.stateMachine?.phase != nil else { return }
        self.isWorking = true
        self.handleEvents()
        self.takeWork()
        self.write()
        self.isWorking = false
    }

    /// Closes the connection after the outstanding responses have arrived, or immediately if it is not yet established.
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

    private func fail(_ failure: ConnectionError) {
        // A failure after the state machine has finished is a consequence of that.
        if self.failure == nil, self.stateMachine?.phase != .finished { self.failure = failure }
        self.stateMachine?.transportClosed(failure.description)
        self.work()
        self.context?.close(promise: nil)
    }

    /// Writes the last bytes and closes the channel after the state machine has finished.
    /// - Parameter cause: The failure that ended the connection, or `nil` after an orderly end.
    private func finished(_ cause: HTTP2RequestFailure?) {
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

    private func startDraining() { self.stateMachine?.drain(now: .now()) }

    private func reportExpiredToken() {
        if let providerToken { self.delegate.providerTokenExpired(self.id, providerToken) }
    }
}

extension SocketAddress {
    /// The address and the port as text, or `nil` for a socket without them.
    fileprivate var text: String? {
        guard let address = self.ipAddress, let port = self.port else { return nil }
        return address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}

/// Converts the state machine's events into outcomes.
extension PushConnection {
    /// The number of times that the service may refuse the stream of a push. After that, the push counts as not sent.
    private static let maximumRefusals = 3

    private func handle(_ events: [HTTP2ClientEvent]) {
        var results = ResultCollector(&self.results, over: self.opened)
        var returned: [PushTicket] = []
        var returnCause: Outcome.Failure?
        let now = NIODeadline.now()
        for event in events {
            switch event {
            case .response(let slot, let response):
                guard let ticket = self.inFlight.remove(slot) else { continue }
                ticket.batch.metrics.responded(after: now - ticket.sentAt)
                results.add(ticket, self.outcome(of: response, to: ticket))
            case .lost(let slot, let cause):
                guard let ticket = self.inFlight.remove(slot) else { continue }
                results.add(ticket, .unknown(cause.failure))
                // The service is reachable but never responds: another of its addresses may respond.
                if cause == .responseTimeout, !self.isConfirmed { self.startDraining() }
            case .notProcessed(let slot, let cause):
                guard var ticket = self.inFlight.remove(slot) else { continue }
                if case .reset = cause { ticket.refusals += 1 }
                // The service has opened no flow-control window for the push: another connection may have one.
                if cause == .responseTimeout { self.startDraining() }
                if cause.allowsRetry, ticket.refusals < Self.maximumRefusals {
                    returned.append(ticket)
                    returnCause = cause.failure
                } else {
                    results.add(ticket, .notSent(cause.failure))
                }
            case .ready: self.delegate.connectionIsReady(self.id)
            case .draining(let goAway):
                self.logger.debug("connection draining", metadata: goAway?.metadata)
                self.delegate.connectionIsDraining(self.id, goAway)
            case .finished(let cause):
                if let cause {
                    self.logger.debug("connection ended", metadata: ["error": "\(cause.failure.description)"])
                }
                self.finished(cause)
            }
        }
        self.results = results.finish()
        if let returnCause { self.delegate.returnWork(returned, returnCause) }
    }

    private func outcome(of response: HTTP2Response, to ticket: PushTicket) -> Outcome {
        if response.head.status == 200 {
            self.confirm()
            return .accepted(
                .init(id: response.head.id ?? ticket.push.notification.id, uniqueID: response.head.uniqueID)
            )
        }
        let rejection = PushResponse.rejection(response)
        if rejection.reason == .expiredProviderToken { self.reportExpiredToken() }
        if rejection.endsConnection { self.startDraining() } else { self.confirm() }
        return .rejected(rejection)
    }

    private func confirm() {
        guard !self.isConfirmed else { return }
        self.isConfirmed = true
        self.delegate.connectionIsConfirmed(self.id)
    }
}

/// A handle that calls a ``PushConnection`` from any thread.
struct ConnectionHandle: Sendable {
    private let eventLoop: any EventLoop
    private let connection: NIOLoopBound<PushConnection>

    /// Creates a handle. It must be called on the connection's event loop.
    init(_ connection: PushConnection, eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        self.connection = NIOLoopBound(connection, eventLoop: eventLoop)
    }

    func wake() { self.eventLoop.execute { self.connection.value.work() } }

    func drain() { self.eventLoop.execute { self.connection.value.drain() } }
}

/// The owner of a ``PushConnection``. The connection calls it on its event loop.
protocol PushConnectionDelegate: AnyObject, Sendable {
    var wallTime: Timestamp { get }
    /// Called when the service's settings have arrived. The connection then begins to take work.
    func connectionIsReady(_ id: Int)
    /// Appends up to `limit` pushes to send now, or fewer if other connections have a share. The connection is woken
    /// when there are more.
    func takeWork(_ id: Int, limit: Int, into tickets: inout [PushTicket])
    /// Returns the provider token for requests now, or `nil` if the connection authenticates with a certificate.
    /// - Throws: The error of the cryptography library if it cannot sign.
    func providerToken(_ id: Int) throws -> String?
    /// Called after the first response that does not end the connection.
    func connectionIsConfirmed(_ id: Int)
    func providerTokenExpired(_ id: Int, _ token: String)
    /// Returns pushes that the service did not process to the queue, to be sent on this connection or another.
    func returnWork(_ tickets: [PushTicket], _ failure: Outcome.Failure)
    /// Called when the connection takes no more work. `goAway` is the frame with which the service requested that, or
    /// `nil` if it did not.
    func connectionIsDraining(_ id: Int, _ goAway: GoAway?)
    /// Called when the connection has closed. The failure is `nil` after an orderly close.
    func connectionClosed(_ id: Int, _ failure: ConnectionError?)
}
