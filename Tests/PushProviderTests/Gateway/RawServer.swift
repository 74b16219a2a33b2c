import NIOCore
import NIOPosix
import PushTesting

/// A server that responds to the first bytes of each connection with others, or with nothing at all.
enum RawServer {
    /// Runs a server on a free port for the duration of `body`.
    static func run<Value>(
        responding respond: @escaping @Sendable (String) -> String?,
        _ body: (Int) async throws -> Value
    ) async throws -> Value {
        try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Responder(respond: respond))
                }
            }
            .run(body)
    }

    /// Returns an HTTP response with a body, after which the client closes.
    static func response(_ body: String) -> String {
        "HTTP/1.1 200 OK\r\n\(Self.leavesClosing)content-length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// The field of a response that leaves the closing of the connection to the client. A server that is faster could close it before the
    /// client has noted that its own request is complete.
    private static let leavesClosing = "connection: close\r\n"

    private final class Responder: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let respond: @Sendable (String) -> String?

        init(respond: @escaping @Sendable (String) -> String?) { self.respond = respond }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard let response = self.respond(String(buffer: Self.unwrapInboundIn(data))) else { return }
            let channel = context.channel
            channel.writeAndFlush(ByteBuffer(string: response)).whenComplete { _ in
                if !response.contains(RawServer.leavesClosing) { channel.close(promise: nil) }
            }
        }
    }
}
