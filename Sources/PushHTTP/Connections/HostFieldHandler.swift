import NIOCore
import NIOHTTP1
import PushSupport

/// Rejects an HTTP/1.1 request with no `Host` field or several (RFC 9112 section 3.2), and closes its connection.
///
/// It is placed after the HTTP/1.1 decoder. The error response follows the responses to earlier requests.
final class HostFieldHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private static let error = RequestError(
        .invalid,
        code: "bad_host",
        message: "a request of HTTP/1.1 has one Host field: send exactly one"
    )

    private var unanswered = 0
    private var isRefusing = false

    static func add(to channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        try pipeline.addHandler(HostFieldHandler(), position: .after(decoder))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.isRefusing else { return }
        if case .head(let head) = Self.unwrapInboundIn(data) {
            guard Self.isValid(head) else {
                self.isRefusing = true
                return self.refuse(context)
            }
            self.unanswered += 1
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = Self.unwrapOutboundIn(data)
        context.write(data, promise: promise)
        guard case .end = part else { return }
        self.unanswered -= 1
        if self.isRefusing { self.refuse(context) }
    }

    private static func isValid(_ head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["host"]
        // HTTP/1.0 does not define the `Host` field.
        return hosts.count == 1 || (hosts.isEmpty && head.version != .http1_1)
    }

    private func refuse(_ context: ChannelHandlerContext) {
        guard self.unanswered == 0 else { return }
        let body = ByteBuffer(bytes: Self.error.body)
        let headers: HTTPHeaders = [
            "content-type": "application/json", "content-length": "\(body.readableBytes)", "connection": "close",
        ]
        let head = HTTPResponseHead(version: .http1_1, status: .badRequest, headers: headers)
        context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
        context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: written)
    }
}
