import NIOCore

/// Hides the client's bytes from TLS once the whole list is written, so that only the end of TCP ends the connection.
///
/// A client that closes before it has read everything sends the closure alert of TLS first and a TCP reset after it. If
/// the alert counted as the end, a list would be cleared that was not read; the reset shows that.
final class FeedbackCloseHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// Set once all tuples are written: later bytes of the client are dropped.
    var dropsBytes = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !self.dropsBytes { context.fireChannelRead(data) }
    }
}
