import NIOCore
import NIOPosix

/// A server whose responses hardly ever end: behind the head a byte comes now and then.
package enum DrippingServer {
    /// Runs a server on a free port for the duration of `body`.
    package static func run(_ body: (_ port: Int) async throws -> Void) async throws {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(DripHandler())
                }
            }
            .run(body)
    }
}

/// Responds to the first bytes of a connection.
private final class DripHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var drip: RepeatedTask?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard self.drip == nil else { return }
        let channel = context.channel
        // Ten minutes, and a length that all clients take: what is too long fails at once, for another reason.
        channel.writeAndFlush(ByteBuffer(string: "HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n"), promise: nil)
        self.drip = context.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(10)) { _ in
            channel.writeAndFlush(ByteBuffer(string: " "), promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.drip?.cancel()
        context.fireChannelInactive()
    }
}
