import NIOCore
import PushHTTP
import PushWire

/// Detects the protocol from the first bytes after TLS. An HTTP/1 client receives an explanation. All other bytes are
/// taken for HTTP/2, with or without ALPN (reference 1.2).
final class ProtocolDetector: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let preface = Array(HTTP2Constants.preface.utf8)
    private static let methods = ["GET ", "POST ", "PUT ", "HEAD ", "DELETE ", "OPTIONS ", "PATCH "]
    private static let body = #"{"reason":"HTTP/2 is required: use ALPN h2, or HTTP/2 with prior knowledge"}"#
    private static let response =
        "HTTP/1.1 505 HTTP Version Not Supported\r\ncontent-type: application/json\r\nconnection: close\r\n"
        + "content-length: \(body.utf8.count)\r\n\r\n\(body)"

    private let deadline: TimeAmount
    private let configureHTTP2: (any Channel) throws -> Void
    private var received = ByteBuffer()
    private var hasDecided = false
    private var timer: Scheduled<Void>?

    /// Creates a detector.
    /// - Parameters:
    ///   - deadline: The maximum time from the TCP connection to the complete preface. After it, the connection is
    ///     closed.
    ///   - configureHTTP2: Adds the handlers for HTTP/2, which replace the detector.
    init(deadline: TimeAmount, configureHTTP2: @escaping (any Channel) throws -> Void) {
        (self.deadline, self.configureHTTP2) = (deadline, configureHTTP2)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: self.deadline) {
            context.closeBothSides()
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.timer?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.hasDecided else { return }
        self.received.writeImmutableBuffer(Self.unwrapInboundIn(data))
        guard let isHTTP1 = Self.isHTTP1(self.received.readableBytesView) else { return }
        self.hasDecided = true
        self.timer?.cancel()
        if isHTTP1 { return self.reject(context: context) }
        do {
            try self.configureHTTP2(context.channel)
            context.fireChannelRead(Self.wrapInboundOut(self.received))
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        } catch {
            context.closeBothSides()
        }
    }

    /// Returns whether the first bytes are those of HTTP/1, or `nil` while more are needed.
    private static func isHTTP1(_ start: ByteBufferView) -> Bool? {
        if self.preface.starts(with: start) { return start.count < self.preface.count ? nil : false }
        if self.methods.contains(where: { start.starts(with: $0.utf8) }) { return true }
        return self.methods.contains { $0.utf8.starts(with: start) } ? nil : false
    }

    /// Closes the connection, which has no requests yet, when the gateway shuts down.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent || event as? ChannelEvent == .inputClosed, !self.hasDecided {
            context.closeBothSides()
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.closeBothSides() }

    private func reject(context: ChannelHandlerContext) {
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { _ in context.closeBothSides() }
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(string: Self.response)), promise: written)
    }
}
