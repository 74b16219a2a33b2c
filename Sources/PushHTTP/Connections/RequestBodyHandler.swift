import HTTPTypes
package import NIOCore
package import NIOHTTPTypes

/// The minimum rate of a request body that is read while it arrives.
///
/// It is set by an operation (``BodyDescription``). Once the request is identified and allowed, it is fired through the
/// pipeline of the connection as a user event, and replaces the deadline for the request.
package struct StreamedBody: Hashable, Sendable {
    /// The minimum number of bytes that must arrive within each deadline. If fewer arrive, the connection is closed.
    package let minimumBytes: Int

    package init(minimumBytes: Int) { self.minimumBytes = minimumBytes }
}

/// Closes a connection on which a request does not arrive completely before its deadline, even if bytes keep arriving.
///
/// A streamed body has a minimum rate instead (``StreamedBody``), which does not include time in which the server does
/// not read. The idle timeout of the server bounds the time until a request head is complete.
///
/// A response before the end of its request is the last one on the connection. The rest of the request is discarded for
/// up to ``discardTime``, because closing immediately would reset the connection and lose the response.
///
/// For an HTTP/2 stream, all this applies to the stream, and the connection stays open.
///
/// The handler also triggers a ``ClientDisconnection`` when the client has closed the connection or its side of it.
package final class RequestBodyHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    /// The maximum number of bytes that are discarded after a response to an incomplete request, before the connection
    /// is closed.
    static let maximumDiscarded = 256 * 1024
    /// The maximum time for which bytes are discarded after a response to an incomplete request. Then the connection is
    /// closed.
    static let discardTime: TimeAmount = .seconds(1)

    private enum Phase {
        case open
        /// The phase in which the last response on the connection is being written.
        case closing
        /// The phase after the last response was written, in which the rest of its request is discarded.
        case discarding
    }

    private let deadline: TimeAmount
    private let transport: HTTPTransport
    private var phase = Phase.open
    private var startedRequests = 0
    private var endedResponses = 0
    private var isReading = false
    /// The minimum rate of the body that is being read, or `nil` if the request has a deadline instead.
    private var stream: StreamedBody?
    /// The number of body bytes received in the present window of the minimum rate, or since discarding began.
    private var received = 0
    /// The time in the present window of the minimum rate for which the server did not read.
    private var pausedTime: TimeAmount = .zero
    private var pausedSince: NIODeadline?
    private var timer: Scheduled<Void>?
    private var disconnection: ClientDisconnection?
    private var isInputClosed = false

    /// Creates a handler.
    /// - Parameter deadline: The maximum time from the head of a request to its end.
    package init(deadline: TimeAmount, transport: HTTPTransport = .connection) {
        (self.deadline, self.transport) = (deadline, transport)
    }

    // MARK: Requests

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = Self.unwrapInboundIn(data)
        if case .discarding = self.phase { return self.discard(part, context) }
        switch part {
        case .head:
            self.startedRequests += 1
            (self.isReading, self.stream) = (true, nil)
            self.startTimer(context)
        case .body(let bytes): self.received += bytes.readableBytes
        case .end:
            self.isReading = false
            self.timer?.cancel()
        }
        context.fireChannelRead(data)
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        if case .discarding = self.phase { return context.read() }
        self.pausedSince = context.eventLoop.now
        context.fireChannelReadComplete()
    }

    package func read(context: ChannelHandlerContext) {
        if let since = self.pausedSince.take() { self.pausedTime = self.pausedTime + (context.eventLoop.now - since) }
        context.read()
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let stream as StreamedBody:
            guard self.isReading, self.stream == nil else { return }
            self.stream = stream
            self.startTimer(context)
            context.fireUserInboundEventTriggered(event)
        case let disconnection as ClientDisconnection:
            if self.isInputClosed { disconnection.end() } else { self.disconnection = disconnection }
        case ChannelEvent.inputClosed:
            self.inputClosed()
            context.fireUserInboundEventTriggered(event)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    private func startTimer(_ context: ChannelHandlerContext) {
        self.timer?.cancel()
        (self.received, self.pausedTime) = (0, .zero)
        if self.pausedSince != nil { self.pausedSince = context.eventLoop.now }
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: self.deadline) {
            guard self.hasMinimumRate(context.eventLoop.now) else { return context.close(promise: nil) }
            self.startTimer(context)
        }
    }

    /// Returns `true` if a streamed body keeps its minimum rate, or if the server did not read for half of the window.
    /// The result is `false` for a request that has a deadline instead.
    private func hasMinimumRate(_ now: NIODeadline) -> Bool {
        guard let stream else { return false }
        let paused = self.pausedTime + (self.pausedSince.map { now - $0 } ?? .zero)
        return self.received >= stream.minimumBytes || paused + paused >= self.deadline
    }

    // MARK: Responses

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch Self.unwrapOutboundIn(data) {
        case .head(var head):
            // A response to an earlier request, which is complete, does not affect the request that is being read.
            let isEarly = self.isReading && self.startedRequests == self.endedResponses + 1
            if isEarly { head.headerFields[.connection] = "close" }
            if head.headerFields[.connection] == "close" { self.phase = .closing }
            // HTTP/2 does not allow this field (RFC 9113 section 8.2.2).
            if self.transport == .stream { head.headerFields[.connection] = nil }
            context.write(Self.wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            self.endedResponses += 1
            self.disconnection = nil
            guard case .closing = self.phase else { return context.write(data, promise: promise) }
            let promise = promise ?? context.eventLoop.makePromise()
            promise.futureResult.assumeIsolated().whenComplete { _ in self.lastResponseWritten(context) }
            context.writeAndFlush(data, promise: promise)
        }
    }

    private func lastResponseWritten(_ context: ChannelHandlerContext) {
        guard self.isReading, context.channel.isActive else { return context.close(promise: nil) }
        self.phase = .discarding
        self.received = 0
        self.timer?.cancel()
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.discardTime) {
            context.close(promise: nil)
        }
        if self.transport == .connection { context.close(mode: .output, promise: nil) }
        context.read()
    }

    private func discard(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch part {
        case .body(let bytes):
            self.received += bytes.readableBytes
            if self.received > Self.maximumDiscarded { context.close(promise: nil) }
        case .head, .end: context.close(promise: nil)
        }
    }

    // MARK: Closing

    private func inputClosed() {
        self.isInputClosed = true
        self.disconnection.take()?.end()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.inputClosed()
        context.fireChannelInactive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.inputClosed()
    }
}

/// The kind of channel to which a handler of requests and responses belongs.
package enum HTTPTransport: Sendable {
    /// An HTTP/1.1 connection, on which requests follow one another.
    case connection
    /// An HTTP/2 stream, which carries a single request.
    case stream
}
