import NIOCore
import NIOTLS

/// Tells a ``BinarySender`` what happens on one of its connections.
final class BinaryConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let sender: BinarySender
    /// Which of the sender's connections this is.
    private let number: Int
    private let handshakeTimeout: TimeAmount
    private var timer: Scheduled<Void>?
    private var failure: (any Error)?

    init(sender: BinarySender, number: Int, handshakeTimeout: TimeAmount) {
        self.sender = sender
        self.number = number
        self.handshakeTimeout = handshakeTimeout
    }

    func channelActive(context: ChannelHandlerContext) {
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: self.handshakeTimeout) {
            self.failure = ChannelError.connectTimeout(self.handshakeTimeout)
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
        self.sender.assumeIsolated { $0.received(bytes, number: number) }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.sender.assumeIsolated { $0.proceed() }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        let (failure, number) = (self.failure, self.number)
        self.sender.assumeIsolated { $0.ended(failure, number: number) }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The first one tells why; what follows are its consequences.
        if self.failure == nil { self.failure = error }
        context.close(promise: nil)
    }
}
