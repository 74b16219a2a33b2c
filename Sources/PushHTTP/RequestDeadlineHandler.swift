package import NIOCore
package import NIOHTTPTypes

/// Closes a connection on which a request does not end in time, however steadily its bytes drip in. That a head ends,
/// the server's own idle limit sees to.
package final class RequestDeadlineHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart

    private let deadline: TimeAmount
    private var timer: Scheduled<Void>?

    /// - Parameter deadline: from the head of a request to its end.
    package init(deadline: TimeAmount) {
        self.deadline = deadline
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head:
            self.timer?.cancel()
            self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: self.deadline) {
                context.close(promise: nil)
            }
        case .body: break
        case .end: self.timer?.cancel()
        }
        context.fireChannelRead(data)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        context.fireChannelInactive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.timer?.cancel()
    }
}
