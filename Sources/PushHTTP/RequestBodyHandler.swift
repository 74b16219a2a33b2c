import HTTPTypes
package import NIOCore
package import NIOHTTPTypes

/// The body of the request that is being read is a stream: a user event of the pipeline, once the request is known and
/// allowed. From then on a least rate counts instead of the deadline.
package struct BodyStream: Sendable {
    package init() {}
}

/// Closes a connection on which a request does not end in time, however steadily its bytes drip in; a stream must bring
/// ``leastRate`` bytes in each such time, unless it is the server that takes none. That a head ends, the server's own idle
/// limit sees to.
///
/// An answer that comes before the request has ended is the last one of its connection: the rest of the request is not
/// read, but dropped for a moment, so that the answer is not lost by a reset.
///
/// Tells a ``ClientDisconnection`` when the client has gone.
package final class RequestBodyHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    /// Bytes of a stream in the time of one deadline.
    package static let leastRate = 16 * 1024
    /// The bytes, and the time, that are dropped after an early response.
    static let dropped = 256 * 1024
    static let dropping: TimeAmount = .seconds(1)

    private enum Phase {
        case open
        /// The answer that is being written is the last one.
        case closing
        /// The rest of the request is dropped.
        case dropping
    }

    private let deadline: TimeAmount
    private var phase = Phase.open
    /// Requests that have begun, and answers that have ended.
    private var requests = 0
    private var answers = 0
    /// Is set while the last request has not ended.
    private var isReading = false
    private var isStream = false
    /// In this window, or since dropping began.
    private var received = 0
    private var windowBegan = NIODeadline.uptimeNanoseconds(0)
    /// For how long in this window the server took no bytes, and since when it does not.
    private var heldBack: TimeAmount = .zero
    private var heldBackSince: NIODeadline?
    private var timer: Scheduled<Void>?
    private var watch: ClientDisconnection?
    private var isInputClosed = false

    /// - Parameter deadline: from the head of a request to its end.
    package init(deadline: TimeAmount) {
        self.deadline = deadline
    }

    // MARK: Requests

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = Self.unwrapInboundIn(data)
        if case .dropping = self.phase { return self.drop(part, context) }
        switch part {
        case .head:
            self.requests += 1
            (self.isReading, self.isStream) = (true, false)
            self.startTimer(context)
        case .body(let bytes): self.received += bytes.readableBytes
        case .end:
            self.isReading = false
            self.timer?.cancel()
        }
        context.fireChannelRead(data)
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        if case .dropping = self.phase { return context.read() }
        self.heldBackSince = context.eventLoop.now
        context.fireChannelReadComplete()
    }

    package func read(context: ChannelHandlerContext) {
        if let since = self.heldBackSince.take() { self.heldBack = self.heldBack + (context.eventLoop.now - since) }
        context.read()
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is BodyStream:
            guard self.isReading, !self.isStream else { return }
            self.isStream = true
            self.startTimer(context)
        case let watch as ClientDisconnection:
            if self.isInputClosed { watch.end() } else { self.watch = watch }
        case ChannelEvent.inputClosed:
            self.lose()
            context.fireUserInboundEventTriggered(event)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    private func startTimer(_ context: ChannelHandlerContext) {
        self.timer?.cancel()
        let now = context.eventLoop.now
        (self.received, self.windowBegan, self.heldBack) = (0, now, .zero)
        if self.heldBackSince != nil { self.heldBackSince = now }
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: self.deadline) {
            guard self.isStream, self.mayGoOn(context.eventLoop.now) else { return context.close(promise: nil) }
            self.startTimer(context)
        }
    }

    /// Whether a stream has brought enough, or the server has not let it.
    private func mayGoOn(_ now: NIODeadline) -> Bool {
        let heldBack = self.heldBack + (self.heldBackSince.map { now - $0 } ?? .zero)
        return self.received >= Self.leastRate || heldBack + heldBack >= self.deadline
    }

    // MARK: Answers

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch Self.unwrapOutboundIn(data) {
        case .head(var head):
            // Of a request behind this one there is nothing to be said yet.
            let isEarly = self.isReading && self.requests == self.answers + 1
            if isEarly { head.headerFields[.connection] = "close" }
            if head.headerFields[.connection] == "close" { self.phase = .closing }
            context.write(Self.wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            self.answers += 1
            self.watch = nil
            guard case .closing = self.phase else { return context.write(data, promise: promise) }
            let promise = promise ?? context.eventLoop.makePromise()
            promise.futureResult.assumeIsolated().whenComplete { _ in self.endConnection(context) }
            context.writeAndFlush(data, promise: promise)
        }
    }

    /// All is written: the client reads the answer while what it still sends is dropped.
    private func endConnection(_ context: ChannelHandlerContext) {
        guard self.isReading, context.channel.isActive else { return context.close(promise: nil) }
        self.phase = .dropping
        self.received = 0
        self.timer?.cancel()
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.dropping) { context.close(promise: nil) }
        context.close(mode: .output, promise: nil)
        context.read()
    }

    private func drop(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch part {
        case .body(let bytes):
            self.received += bytes.readableBytes
            if self.received > Self.dropped { context.close(promise: nil) }
        case .head, .end: context.close(promise: nil)
        }
    }

    // MARK: The end

    private func lose() {
        self.isInputClosed = true
        self.watch.take()?.end()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.lose()
        context.fireChannelInactive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.lose()
    }
}
