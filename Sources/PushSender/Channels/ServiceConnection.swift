import Logging
import NIOCore
import NIOTLS
import PushSupport
import PushTypes
import PushWire

/// One HTTP/2 connection for requests other than pushes, which passes bytes and time to its state machine. It uses the
/// same state machine as a ``PushConnection``, and closes after a minute without requests.
final class ServiceConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private struct Exchange {
        let request: ServiceRequest
        let end: @Sendable (ServiceResult?) -> Void
    }

    private static let tick: TimeAmount = .milliseconds(250)
    private static let longestIdleTime: TimeAmount = .seconds(60)

    private let authority: String
    private let limits: HTTP2ClientLimits
    private let token: (any ProviderTokenSource)?
    private let time: any TimeSource
    private let logger: Logger
    /// A closure that is called when the connection stops accepting requests.
    private let retired: @Sendable () -> Void

    private var context: ChannelHandlerContext?
    /// The state machine, or `nil` before the TLS handshake and after the connection has ended.
    private var stateMachine: HTTP2ClientStateMachine?
    private var ticker: RepeatedTask?
    private var providerToken: String?
    private var waiting: [Exchange] = []
    /// The requests in flight. The state machine's tickets are indices into this table.
    private var inFlight = SlotTable<Exchange>(keptSlots: 16)
    private var openCount = 0
    private var usedAt = NIODeadline.now()
    /// The time since which requests have been waiting without any of them beginning, or `nil` if none waits or the
    /// service's settings have not arrived.
    private var blockedSince: NIODeadline?
    private var failure: ConnectionError?
    private var isRetired = false
    private var hasEnded = false

    init(
        authority: String,
        limits: HTTP2ClientLimits,
        token: (any ProviderTokenSource)?,
        time: any TimeSource,
        logger: Logger,
        retired: @escaping @Sendable () -> Void
    ) {
        (self.authority, self.limits, self.token) = (authority, limits, token)
        (self.time, self.logger, self.retired) = (time, logger, retired)
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
        self.stateMachine?.receive(Self.unwrapInboundIn(data), now: .now())
    }

    func channelReadComplete(context: ChannelHandlerContext) { self.work() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.fail(ConnectionError(error, isEstablished: self.stateMachine != nil))
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.fail(.closedByServer)
        self.end()
    }

    // MARK: Called on the event loop

    /// Sends a request as soon as a stream is free.
    /// - Parameter end: A closure that receives the result, or `nil` if the connection accepted no more requests.
    func perform(_ request: ServiceRequest, _ end: @escaping @Sendable (ServiceResult?) -> Void) {
        guard !self.isRetired else { return end(nil) }
        self.waiting.append(Exchange(request: request, end: end))
        self.work()
    }

    func drain() {
        guard self.stateMachine != nil else {
            self.retire()
            self.context?.close(promise: nil)
            return
        }
        self.stateMachine?.drain(now: .now())
        self.work()
    }

    // MARK: Life cycle

    private func start() {
        guard self.stateMachine == nil, !self.hasEnded, let context else { return }
        self.stateMachine = HTTP2ClientStateMachine(authority: self.authority, limits: self.limits, now: .now())
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        self.ticker = context.eventLoop.scheduleRepeatedTask(initialDelay: Self.tick, delay: Self.tick) { _ in
            bound.value.ticked(now: .now())
        }
        self.write()
    }

    private func ticked(now: NIODeadline) {
        self.stateMachine?.tick(now: now)
        if self.openCount == 0, self.waiting.isEmpty, self.usedAt + Self.longestIdleTime <= now {
            self.stateMachine?.drain(now: now)
        }
        self.work()
        self.giveUpBlocked(now: now)
    }

    /// Drains the connection if the service has let no request begin within the response timeout.
    private func giveUpBlocked(now: NIODeadline) {
        guard !self.waiting.isEmpty, self.stateMachine?.phase == .open else { return self.blockedSince = nil }
        guard let blockedSince else { return self.blockedSince = now }
        guard blockedSince + self.limits.responseTimeout <= now else { return }
        self.failure = .init(description: "the push service lets no request begin", cause: .timeout)
        self.stateMachine?.drain(now: now)
        self.work()
    }

    private func fail(_ failure: ConnectionError) {
        // A failure after the state machine has finished is a consequence of that.
        if self.failure == nil, self.stateMachine?.phase != .finished { self.failure = failure }
        self.stateMachine?.transportClosed(failure.description)
        self.work()
        self.context?.close(promise: nil)
    }

    private func retire() {
        guard !self.isRetired else { return }
        self.isRetired = true
        self.retired()
        let failure = Outcome.Failure((self.failure ?? .closedByServer).description)
        let waiting = self.waiting
        self.waiting = []
        for exchange in waiting { exchange.end(.notSent(failure, mayRetry: self.failure?.isLasting != true)) }
    }

    private func end() {
        guard !self.hasEnded else { return }
        self.hasEnded = true
        self.ticker?.cancel()
        self.handleEvents()
        self.retire()
        self.stateMachine = nil
    }

    // MARK: Work

    private func work() {
        self.handleEvents()
        while !self.waiting.isEmpty, let free = self.stateMachine?.freeStreams, free > 0 {
            self.begin(self.waiting.removeFirst())
            self.handleEvents()
        }
        self.write()
    }

    private func begin(_ exchange: Exchange) {
        do {
            let text = try self.token?.text(now: self.time.now)
            if text != self.providerToken {
                self.providerToken = text
                self.stateMachine?.setProviderToken(text)
            }
        } catch {
            let failure = Outcome.Failure("the provider token could not be signed: \(error)")
            return exchange.end(.notSent(failure, mayRetry: false))
        }
        let now = NIODeadline.now()
        self.openCount += 1
        (self.usedAt, self.blockedSince) = (now, nil)
        self.stateMachine?.send(exchange.request, ticket: self.inFlight.insert(exchange), now: now)
    }

    private func handleEvents() {
        var events: [HTTP2ClientEvent] = []
        self.stateMachine?.takeEvents(&events)
        for event in events {
            switch event {
            case .ready: break
            case .response(let slot, let response):
                self.note(response)
                self.finish(slot, .response(response))
            case .lost(let slot, let cause): self.finish(slot, .unknown(cause.failure))
            case .notProcessed(let slot, let cause):
                // The service has opened no flow-control window for the request: another connection may have one.
                if cause == .responseTimeout {
                    self.stateMachine?.drain(now: .now())
                    self.retire()
                }
                self.finish(slot, .notSent(cause.failure, mayRetry: cause.allowsRetry))
            case .draining(let goAway):
                self.logger.debug("connection draining", metadata: ["service": "\(self.authority)"])
                if let goAway, goAway.isLasting {
                    let failure = HTTP2RequestFailure.goAway(goAway).failure
                    self.failure = self.failure ?? ConnectionError(description: failure.description, isLasting: true)
                }
                self.retire()
            case .finished(let cause):
                if let cause { self.failure = self.failure ?? .init(description: cause.failure.description) }
                self.retire()
                self.write()
                self.context?.close(promise: nil)
            }
        }
    }

    private func note(_ response: HTTP2Response) {
        guard response.head.status >= 400 else { return }
        let rejection = PushResponse.rejection(response)
        if rejection.reason == .expiredProviderToken, let providerToken {
            self.token?.expired(providerToken, now: self.time.now)
        }
        if rejection.endsConnection { self.stateMachine?.drain(now: .now()) }
    }

    private func finish(_ slot: Int, _ result: ServiceResult) {
        guard let exchange = self.inFlight.remove(slot) else { return }
        self.openCount -= 1
        self.usedAt = .now()
        exchange.end(result)
    }

    private func write() {
        guard let context, let output = self.stateMachine?.takeOutput(), output.readableBytes > 0 else { return }
        context.writeAndFlush(Self.wrapOutboundOut(output), promise: nil)
    }
}

/// The result of a request other than a push.
enum ServiceResult: Sendable {
    case response(HTTP2Response)
    /// The result of a request that the push service did not process, which may be repeated if `mayRetry` is `true`.
    case notSent(Outcome.Failure, mayRetry: Bool)
    /// The result of a request that was sent, but whose response did not arrive.
    case unknown(Outcome.Failure)
}
