import NIOCore

/// Answers a client that speaks HTTP/1 with an explanation instead of silence; lets everything else pass.
///
/// Stands between TLS and HTTP/2 and leaves once the first bytes have been seen.
final class HTTP1Refusal: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let methods = ["GET ", "POST ", "PUT ", "HEAD ", "DELETE ", "OPTIONS ", "PATCH "]
    private static let body = #"{"reason":"HTTP/2 is required: use ALPN h2, or HTTP/2 with prior knowledge"}"#
    private static let answer =
        "HTTP/1.1 505 HTTP Version Not Supported\r\ncontent-type: application/json\r\nconnection: close\r\n"
        + "content-length: \(body.utf8.count)\r\n\r\n\(body)"

    private var hasRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Self.unwrapInboundIn(data)
        guard !self.hasRefused else { return }
        let start = String(decoding: bytes.readableBytesView.prefix(8), as: UTF8.self)
        guard Self.methods.contains(where: start.hasPrefix) else {
            context.fireChannelRead(data)
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
            return
        }
        self.hasRefused = true
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(string: Self.answer)), promise: written)
    }
}
