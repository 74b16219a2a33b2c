import NIOCore
import NIOTLS

/// Completes a promise at the end of the TLS handshake or at a deadline, then leaves the pipeline.
final class TLSHandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let done: EventLoopPromise<Void>
    private let deadline: NIODeadline
    private var timer: Scheduled<Void>?

    init(_ done: EventLoopPromise<Void>, deadline: NIODeadline) {
        (self.done, self.deadline) = (done, deadline)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        let done = self.done
        self.timer = context.eventLoop.scheduleTask(deadline: self.deadline) {
            done.fail(ConnectionFailure(description: "no TLS handshake within the time limit", cause: .timeout))
            channel.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.done.fail(ConnectionFailure.closedByServer)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case TLSUserEvent.handshakeCompleted(let negotiated) = event else {
            return context.fireUserInboundEventTriggered(event)
        }
        // Apple also accepts HTTP/2 with prior knowledge, so a missing ALPN result is treated as HTTP/2 (reference 1.2).
        if let negotiated, negotiated != "h2" {
            let description = "the server speaks \(negotiated), not h2"
            self.done.fail(ConnectionFailure(description: description, isLasting: true, cause: .wrongProtocol))
            context.close(promise: nil)
        } else {
            // The connection writes its preface upon this event, so a server with another protocol must not cause it.
            context.fireUserInboundEventTriggered(event)
            self.done.succeed()
        }
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.done.fail(ConnectionFailure(error))
        context.fireErrorCaught(error)
    }
}
