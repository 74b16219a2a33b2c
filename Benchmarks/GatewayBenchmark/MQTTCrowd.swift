import NIOCore
import Synchronization

/// MQTT 3.1.1 clients that connect over TLS and then say nothing.
final class MQTTCrowd: Crowd {
    private let port: Int
    private let count: Int
    private let tally: Tally
    private let channels = Mutex<[any Channel]>([])

    init(port: Int, count: Int) {
        self.port = port
        self.count = count
        self.tally = Tally(devices: count)
    }

    func gather() async throws {
        let (count, tally) = (self.count, self.tally)
        let connecting = try ClientSockets.connect(port: self.port, count: count, alpn: []) {
            MQTTHandler(number: $0, tally: tally)
        }
        for future in connecting {
            let channel = try await future.get()
            self.channels.withLock { $0.append(channel) }
        }
        try await tally.wait(for: "connecting to the broker", seconds: 120) { $0.ready == count }
    }

    func disconnect() async {
        let channels = self.channels.withLock { $0 }
        for channel in channels { channel.close(promise: nil) }
        for channel in channels { try? await channel.closeFuture.get() }
    }
}

/// Sends CONNECT with a clean session and no keep-alive, waits for CONNACK (MQTT 3.1.1, sections 3.1 and 3.2).
private final class MQTTHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let number: Int
    private let tally: Tally
    private var answer = ByteBuffer()

    init(number: Int, tally: Tally) {
        self.number = number
        self.tally = tally
    }

    func channelActive(context: ChannelHandlerContext) {
        var body = ByteBuffer(bytes: [0, 4] + Array("MQTT".utf8) + [4, 2, 0, 0])
        body.writeInteger(UInt16(8))
        body.writeString(String(String(100_000_000 + self.number).suffix(8)))
        var packet = ByteBuffer(bytes: [0x10, UInt8(body.readableBytes)])
        packet.writeBuffer(&body)
        context.writeAndFlush(Self.wrapOutboundOut(packet), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.answer.writeImmutableBuffer(Self.unwrapInboundIn(data))
        guard self.answer.readableBytes >= 4 else { return }
        guard self.answer.readableBytesView.elementsEqual([0x20, 2, 0, 0]) else {
            return self.tally.failed("the broker refused the connection")
        }
        self.tally.update { $0.ready += 1 }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.tally.failed("\(error)")
        context.close(promise: nil)
    }
}
