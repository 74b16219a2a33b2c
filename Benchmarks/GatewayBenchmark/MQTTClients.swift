import NIOCore

/// MQTT 3.1.1 clients that connect over TLS and stay idle.
struct MQTTClients: ClientGroup {
    private let count: Int
    private let counters: ConnectionCounters
    private let connections: ClientConnections

    init(port: Int, count: Int) {
        self.count = count
        self.counters = ConnectionCounters(devices: count)
        self.connections = ClientConnections(port: port, alpn: [], counters: self.counters)
    }

    func connectAll(together: Int) async throws {
        let counters = self.counters
        _ = try await self.connections.open(self.count, together: together) {
            MQTTHandler(number: $0, counters: counters)
        }
    }

    func disconnect() async {
        await self.connections.close()
    }
}

/// Sends CONNECT with a clean session and no keep-alive, waits for CONNACK (MQTT 3.1.1, sections 3.1 and 3.2).
private final class MQTTHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let number: Int
    private let counters: ConnectionCounters
    private var response = ByteBuffer()

    init(number: Int, counters: ConnectionCounters) {
        self.number = number
        self.counters = counters
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
        self.response.writeImmutableBuffer(Self.unwrapInboundIn(data))
        guard self.response.readableBytes >= 4 else { return }
        guard self.response.readableBytesView.elementsEqual([0x20, 2, 0, 0]) else {
            return self.counters.failed("the broker refused the connection")
        }
        self.counters.update { $0.ready += 1 }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.counters.failed("\(error)")
        context.close(promise: nil)
    }
}
