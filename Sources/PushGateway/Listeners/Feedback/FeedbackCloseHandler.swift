import NIOCore

/// Below TLS: once the whole list was told, only the end of TCP counts.
///
/// A client that closes without having read all that has come to it says goodbye in TLS first and has TCP reset then. To
/// take the goodbye for the end would clear a list that was not read; the reset tells.
final class FeedbackCloseHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// Is set once all tuples were written: later bytes of the client are dropped.
    var isAwaited = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !self.isAwaited { context.fireChannelRead(data) }
    }
}
