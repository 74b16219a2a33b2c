import NIOCore
import NIOTLS

/// A handler that forwards the events of one connection to its ``BinarySender``.
final class BinaryConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let sender: BinarySender
    /// The number by which the sender distinguishes this connection from earlier ones.
    private let number: Int
    private let handshakeTimeout: TimeAmount
    private var timer: Scheduled<Void>?
    private var error: (any Error)?

    init(sender: BinarySender, number: Int, handshakeTimeout: TimeAmount) {
        (self.sender, self.number, self.handshakeTimeout) = (sender, number, handshakeTimeout)
    }

    func channelActive(context: ChannelHandlerContext) {
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: self.handshakeTimeout) {
            self.error = ChannelError.connectTimeout(self.handshakeTimeout)
            context.close(promise: nil)
        }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted = event as? TLSUserEvent {
            self.timer?.cancel()
            let (channel, number) = (context.channel, self.number)
            self.sender.assumeIsolated { $0.connected(channel, number: number) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let (bytes, number) = (Self.unwrapInboundIn(data), self.number)
        self.sender.assumeIsolated { $0.receive(bytes, number: number) }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.sender.assumeIsolated { $0.proceed() }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        let (error, number) = (self.error, self.number)
        self.sender.assumeIsolated { $0.connectionClosed(error, number: number) }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The first error is the cause of those that follow.
        if self.error == nil { self.error = error }
        context.close(promise: nil)
    }
}
