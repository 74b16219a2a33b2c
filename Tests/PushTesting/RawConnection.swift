import Foundation
import NIOCore
import NIOPosix
package import NIOSSL
package import PushWire

/// A TCP connection, with or without TLS, for tests that send bytes of their own.
package struct RawConnection: Sendable {
    private let channel: any Channel
    private let received: AsyncThrowingStream<ByteBuffer, any Error>

    /// - Parameters:
    ///   - address: The client's own address, which counts as a network: Linux has all of 127.0.0.0/8.
    ///   - isReading: `false` for a client that takes nothing from its socket.
    package static func open(
        port: Int,
        tls: TLSConfiguration? = nil,
        from address: String = "127.0.0.1",
        isReading: Bool = true
    ) async throws -> RawConnection {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: ByteBuffer.self)
        let context = try tls.map { try NIOSSLContext(configuration: $0) }
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let context {
                        try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: "localhost"))
                    }
                    try pipeline.addHandler(Collector(continuation))
                }
            }
            .channelOption(ChannelOptions.autoRead, value: isReading)
            .connectTimeout(.patience)
            .bind(to: SocketAddress(ipAddress: address, port: 0))
            .connect(host: "127.0.0.1", port: port)
            .get()
        return RawConnection(channel: channel, received: stream)
    }

    package func write(_ bytes: some Sequence<UInt8> & Sendable) {
        self.channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
    }

    /// Writes bytes, and waits until the socket has them.
    package func send(_ bytes: some Sequence<UInt8> & Sendable) async throws {
        try await self.channel.writeAndFlush(ByteBuffer(bytes: bytes))
    }

    package func write(_ packet: DeviceLinkPacket) {
        self.channel.writeAndFlush(packet.encoded, promise: nil)
    }

    /// Everything until the peer closes.
    package func readToEnd() async -> [UInt8] {
        var all: [UInt8] = []
        do {
            for try await buffer in self.received { all += Array(buffer.readableBytesView) }
        } catch {
            // A reset or a TLS alert is an end too.
        }
        return all
    }

    /// Everything until the peer closes in good order: TCP, and TLS if there is any.
    /// - Throws: what went wrong instead.
    package func readToOrderlyEnd() async throws -> [UInt8] {
        var all: [UInt8] = []
        for try await buffer in self.received { all += Array(buffer.readableBytesView) }
        return all
    }

    /// The next courier packets, `count` of them, or fewer if the peer closes.
    package func readPackets(_ count: Int) async throws -> [DeviceLinkPacket] {
        var (buffer, packets) = (ByteBuffer(), [DeviceLinkPacket]())
        for try await bytes in self.received {
            buffer.writeImmutableBuffer(bytes)
            while let packet = try DeviceLinkPacket.read(from: &buffer) { packets.append(packet) }
            if packets.count >= count { break }
        }
        return packets
    }

    /// Reads until `isEnough`, or until the peer closes.
    package func read(until isEnough: ([UInt8]) -> Bool) async throws -> [UInt8] {
        var all: [UInt8] = []
        for try await buffer in self.received {
            all += buffer.readableBytesView
            if isEnough(all) { break }
        }
        return all
    }

    /// Sends no more, and goes on reading.
    package func closeOutput() async throws {
        try await self.channel.close(mode: .output).get()
    }

    package func close() async {
        try? await self.channel.close()
    }

    /// Closes the connection with a reset, which the peer reads as an error.
    package func reset() async throws {
        let socket = self.channel as? any SocketOptionProvider
        try await socket?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        await self.close()
    }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let continuation: AsyncThrowingStream<ByteBuffer, any Error>.Continuation

        init(_ continuation: AsyncThrowingStream<ByteBuffer, any Error>.Continuation) {
            self.continuation = continuation
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            self.continuation.yield(Self.unwrapInboundIn(data))
        }

        func channelInactive(context: ChannelHandlerContext) {
            self.continuation.finish()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            self.continuation.finish(throwing: error)
            context.close(promise: nil)
        }
    }
}
