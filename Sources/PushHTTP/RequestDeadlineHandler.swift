package import HTTPTypes
package import NIOCore
package import NIOHTTPTypes

/// Closes a connection on which a request does not end in time, however steadily its bytes drip in; a stream has the time
/// between two of its parts. That a head ends, the server's own idle limit sees to.
package final class RequestDeadlineHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart

    private let deadline: TimeAmount
    private let isStream: @Sendable (HTTPRequest) -> Bool
    private var streams = false
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - deadline: from the head of a request to its end.
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

    private func start(_ context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: self.deadline) {
            context.close(promise: nil)
        }
    }

    package func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        context.fireChannelInactive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.timer?.cancel()
    }
}
