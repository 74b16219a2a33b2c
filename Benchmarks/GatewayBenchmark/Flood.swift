import ArgumentParser
import Benchmarking
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import PushDevice
import PushSender
import PushWire
import Synchronization

/// Measures floods by clients without a credential, one behaviour after the other. Each must be ended or bounded, and a push must
/// reach every device meanwhile.
struct Flood: AsyncParsableCommand {
    /// The largest growth of memory, in kB. Six unauthenticated connections once held 90 MB.
    private static let mostKept = 64.0 * 1024
    private static let deadline = 10.0

    @OptionGroup var swarm: SwarmOptions
    @OptionGroup var pushes: PushOptions

    func run() async throws {
        let devices = try DeviceFile.read(self.swarm.file).prefix(self.swarm.devices)
        guard let authority = devices.first?.identity.serviceAuthority else { throw BenchmarkFailure("no devices") }
        let swarm = try Swarm(self.swarm, devices)
        try await swarm.connect()
        var sent = 0
        for kind in FloodKind.allCases {
            let before = try ProcessStatistics(pid: self.swarm.pid)
            let clients = FloodClients(port: self.pushes.http2Port)
            try await clients.open(kind)
            let start = Stamp.now
            let sender = try Provider.sender(self.pushes, authority: authority)
            let stamps = sent
            let pushes = devices.enumerated().compactMap { index, device in
                device.token.map { Provider.push(Stamp(stamps + index), to: $0) }
            }
            try await Provider.send(pushes, with: sender)
            sent += devices.count
            let expected = sent
            try await swarm.counters.wait(for: "a push for each device under \(kind)", seconds: Self.deadline) {
                $0.stamps.count == expected
            }
            await sender.close()
            figure("flood_\(kind)_push", Double(Stamp.now - start) / 1e6, "ms to \(pushes.count) devices")
            let kept = try ProcessStatistics(pid: self.swarm.pid).residentKB - before.residentKB
            figure("flood_\(kind)_resident", kept, "kB")
            guard kept < Self.mostKept else { throw BenchmarkFailure("\(kind): \(kept) kB are held for nothing") }
            if kind.mustEnd {
                try await clients.counters.wait(for: "the end of all of \(kind)", seconds: Self.deadline) {
                    $0.open == 0
                }
            }
            await clients.close()
        }
        await swarm.disconnect()
    }
}

/// A behaviour of hostile clients.
enum FloodKind: CaseIterable {
    /// Endless requests of the largest size.
    case memory
    /// PINGs, after requests that are rejected.
    case pings
    /// WINDOW_UPDATE frames for the connection, while rejected requests wait for the window of their stream.
    case windows
    /// New provider tokens with invalid signatures.
    case tokens

    var connections: Int { self == .tokens ? 20 : 6 }

    /// Tells whether the gateway has to close all the connections.
    var mustEnd: Bool { self != .windows }

    /// Returns the bytes of a connection. Each has other provider tokens.
    func bytes() -> ByteBuffer {
        var bytes = ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        bytes.writeSettings(self == .windows ? [(.initialWindowSize, 0)] : [])
        bytes.write(FrameHeader(length: 0, type: .settings, flags: .acknowledgement))
        switch self {
        case .memory:
            for number in 0..<1000 {
                let stream = UInt32(number) * 2 + 1
                Self.request(stream, String(repeating: "x", count: 7000), endStream: false, into: &bytes)
                bytes.write(FrameHeader(length: 5000, type: .data, streamID: stream))
                bytes.writeRepeatingByte(0x20, count: 5000)
            }
        case .pings:
            Self.refused(90, into: &bytes)
            for _ in 0..<90_000 {
                bytes.write(FrameHeader(length: 8, type: .ping))
                bytes.writeInteger(UInt64(0))
            }
        case .windows:
            Self.refused(990, into: &bytes)
            for _ in 0..<5000 { bytes.writeFrame(.windowUpdate, words: 1) }
        case .tokens:
            let head = Data(#"{"alg":"ES256","kid":"\#(Provider.keyID)"}"#.utf8).base64EncodedString()
            for number in 0..<900 {
                let signature = Data((0..<64).map { _ in UInt8.random(in: 1...255) }).base64EncodedString()
                Self.request(UInt32(number) * 2 + 1, "bearer \(head).e30.\(signature)", into: &bytes)
            }
        }
        return bytes
    }

    private static func refused(_ count: Int, into bytes: inout ByteBuffer) {
        for number in 0..<count { Self.request(UInt32(number) * 2 + 1, "none", into: &bytes) }
    }

    /// Writes a request in literals, without the dynamic table and Huffman code.
    private static func request(
        _ stream: UInt32,
        _ authorization: String,
        endStream: Bool = true,
        into bytes: inout ByteBuffer
    ) {
        // POST and https are indexed; :path and authorization have names of the static table.
        var block: [UInt8] = [0x83, 0x87, 0x04]
        Self.append("/3/device/00", to: &block)
        block += [0x0f, 23 - 15]
        Self.append(authorization, to: &block)
        bytes.write(
            FrameHeader(
                length: block.count,
                type: .headers,
                flags: endStream ? [.endHeaders, .endStream] : .endHeaders,
                streamID: stream
            )
        )
        bytes.writeBytes(block)
    }

    private static func append(_ text: String, to block: inout [UInt8]) {
        var length = text.utf8.count
        if length < 127 {
            block.append(UInt8(length))
        } else {
            block.append(127)
            length -= 127
            while length >= 128 {
                block.append(UInt8(length % 128 + 128))
                length /= 128
            }
            block.append(UInt8(length))
        }
        block += text.utf8
    }
}

/// Connections that send the same bytes and ignore the responses.
private final class FloodClients: Sendable {
    let counters = ConnectionCounters(devices: 0)
    private let port: Int
    private let channels = Mutex<[any Channel]>([])

    init(port: Int) {
        self.port = port
    }

    func open(_ kind: FloodKind) async throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        tls.applicationProtocols = ["h2"]
        let (context, counters) = (try NIOSSLContext(configuration: tls), self.counters)
        for _ in 0..<kind.connections {
            let bytes = kind.bytes()
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: nil))
                        try pipeline.addHandler(FloodHandler(bytes, counters: counters))
                    }
                }
                .connect(host: "127.0.0.1", port: self.port)
                .get()
            self.channels.withLock { $0.append(channel) }
        }
    }

    func close() async {
        for channel in self.channels.withLock({ $0 }) { try? await channel.close() }
    }
}

private final class FloodHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let bytes: ByteBuffer
    private let counters: ConnectionCounters

    init(_ bytes: ByteBuffer, counters: ConnectionCounters) {
        self.bytes = bytes
        self.counters = counters
    }

    func channelActive(context: ChannelHandlerContext) {
        self.counters.update { $0.open += 1 }
        context.writeAndFlush(Self.wrapOutboundOut(self.bytes), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.counters.update { $0.open -= 1 }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    /// Closes the connection after a reset.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
