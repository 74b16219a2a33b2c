package import HTTPTypes
package import NIOCore
package import NIOHTTPTypes

/// Closes a connection on which a request does not end in time, however steadily its bytes drip in; a stream has the time
/// between two of its parts. That a head ends, the server's own idle limit sees to.
///
/// An answer has the time for each ``piece`` of it: a client that stops reading holds nothing for longer.
package final class RequestDeadlineHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    /// In bytes; a longer part of an answer is written in several.
    static let piece = 64 * 1024

    private let deadline: TimeAmount
    private let isStream: @Sendable (HTTPRequest) -> Bool
    private var streams = false
    private var timer: Scheduled<Void>?
    /// Pieces that the client has not taken.
    private var unwritten = 0
    private var writeTimer: Scheduled<Void>?

    /// - Parameters:
    ///   - deadline: from the head of a request to its end, and for each piece of an answer.
    ///   - isStream: whether the deadline is for each part of the request's body instead.
    package init(deadline: TimeAmount, isStream: @escaping @Sendable (HTTPRequest) -> Bool = { _ in false }) {
        self.deadline = deadline
        self.isStream = isStream
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head):
            self.streams = self.isStream(head)
            self.start(context)
        case .body: if self.streams { self.start(context) }
        case .end: self.timer?.cancel()
        }
        context.fireChannelRead(data)
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .body(var rest) = Self.unwrapOutboundIn(data) else {
            return self.write(data, promise, context)
        }
        while rest.readableBytes > Self.piece, let piece = rest.readSlice(length: Self.piece) {
            self.write(Self.wrapOutboundOut(.body(piece)), nil, context)
        }
        self.write(Self.wrapOutboundOut(.body(rest)), promise, context)
    }

    private func write(_ data: NIOAny, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        let promise = promise ?? context.eventLoop.makePromise()
        self.unwritten += 1
        if self.unwritten == 1 { self.startWriting(context) }
        promise.futureResult.assumeIsolated().whenComplete { _ in
            self.unwritten -= 1
            self.writeTimer?.cancel()
            if self.unwritten > 0 { self.startWriting(context) }
        }
        context.write(data, promise: promise)
    }

    private func startWriting(_ context: ChannelHandlerContext) {
        self.writeTimer = self.scheduleClose(context)
    }

    private func start(_ context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.timer = self.scheduleClose(context)
    }

    private func scheduleClose(_ context: ChannelHandlerContext) -> Scheduled<Void> {
        context.eventLoop.assumeIsolated().scheduleTask(in: self.deadline) {
            context.close(promise: nil)
        }
    }

    package func channelInactive(context: ChannelHandlerContext) {
        self.cancelTimers()
        context.fireChannelInactive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.cancelTimers()
    }

    private func cancelTimers() {
        self.timer?.cancel()
        self.writeTimer?.cancel()
    }
}
