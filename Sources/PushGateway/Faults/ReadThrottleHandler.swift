import NIOCore

/// Limits the rate at which a connection is read, below TLS. The peer's writes fill its own buffers.
final class ReadThrottleHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private let bytesPerSecond: Int
    /// The earliest time of the next read.
    private var next = NIODeadline.uptimeNanoseconds(0)
    private var isWaiting = false

    init(bytesPerSecond: Int) { self.bytesPerSecond = max(1, bytesPerSecond) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Int64(Self.unwrapInboundIn(data).readableBytes)
        let pause = TimeAmount.nanoseconds(bytes * 1_000_000_000 / Int64(self.bytesPerSecond))
        self.next = max(self.next, context.eventLoop.now) + pause
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        guard !self.isWaiting else { return }
        guard self.next > context.eventLoop.now else { return context.read() }
        self.isWaiting = true
        context.eventLoop.assumeIsolated().scheduleTask(deadline: self.next) {
            self.isWaiting = false
            context.read()
        }
    }
}
