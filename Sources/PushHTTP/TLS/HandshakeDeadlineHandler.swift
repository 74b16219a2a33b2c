package import NIOCore
import NIOTLS

/// Closes a connection whose TLS handshake fails, or does not end in time.
package final class HandshakeDeadlineHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer

    private let deadline: TimeAmount
    private var timer: Scheduled<Void>?

    package init(deadline: TimeAmount) { self.deadline = deadline }

    package func handlerAdded(context: ChannelHandlerContext) {
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: self.deadline) {
            context.close(promise: nil)
        }
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        guard case .handshakeCompleted = event as? TLSUserEvent else { return }
        self.timer?.cancel()
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        context.fireChannelInactive()
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }
}
