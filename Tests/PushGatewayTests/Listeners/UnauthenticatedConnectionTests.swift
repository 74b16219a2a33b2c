import NIOCore
import NIOHPACK
import NIOSSL
import PushHTTP
import PushSupport
import PushTesting
import PushWire
import Testing

@testable import PushGateway

/// Clients that show no credential hold little and not for long, at each listener of a gateway; the others notice
/// nothing.
@Suite(.timeLimit(.minutes(5))) struct UnauthenticatedConnectionTests {
    @Test func connectionsThatHoldMoreThanTheBudgetEndAndOthersAreServed() async throws {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: directory, configure: { $0.limits.unauthenticated.bytes = 1 << 20 }) { gateway in
                let port = gateway.addresses.main.http2
                let small = try await RawConnection.open(port: port, tls: try gateway.tls)
                small.write(Self.opening)
                small.write(try Self.unfinished(20))
                for _ in 0..<6 {
                    let large = try await RawConnection.open(port: port, tls: try gateway.tls)
                    large.write(Self.opening)
                    large.write(try Self.unfinished(500))
                    _ = await large.readToEnd()
                }
                try await gateway.expectAlive()
                small.write([0, 0, 0, 0, 1, 0, 0, 0, 1])
                let response = try await small.read { Self.hasResponse($0, to: 1) }
                #expect(Self.hasResponse(response, to: 1))
                await small.close()
            }
        }
    }

    /// 0 HTTP/2 after its settings, 1 binary, 2 admin.
    @Test(arguments: 0..<3) func aConnectionWithoutACredentialEndsInTime(listener: Int) async throws {
        try await withTemporaryDirectory { directory in
            let configure: (inout GatewayConfiguration) -> Void = {
                // HTTP/2 has to be spoken before it, on the slowest machine too.
                $0.limits.unauthenticated.deadline = listener == 0 ? .seconds(8) : .milliseconds(300)
                $0.limits.handshake = .seconds(600)
                $0.limits.request = .seconds(600)
                $0.limits.adminIdle = .seconds(600)
            }
            try await withGateway(in: directory, configure: configure) { gateway in
                let main = gateway.addresses.main
                let port = [main.http2, main.binary, gateway.addresses.admin][listener]
                let tls: TLSConfiguration? = listener == 0 ? try gateway.tls : nil
                let connection = try await RawConnection.open(port: port, tls: tls)
                switch listener {
                case 0:
                    connection.write(Self.opening)
                    let bytes = await connection.readToEnd()
                    let last = PeerFrame.frames(bytes).last
                    #expect(last?.type == .goAway)
                    #expect(last?.words.last == HTTP2ErrorCode.noError.rawValue)
                default: _ = await connection.readToEnd()
                }
            }
        }
    }

    @Test func aConnectionWithACredentialStaysAndAskedWithABadOneGoes() async throws {
        try await withTemporaryDirectory { directory in
            let configure: (inout GatewayConfiguration) -> Void = {
                // Long enough for the slowest machine to show a credential in it.
                $0.limits.unauthenticated.deadline = .seconds(10)
                $0.limits.unauthenticated.bytes = 1 << 20
            }
            let token = try TestKey().token(issuedAt: SystemTime().now)
            try await withGateway(in: directory, configure: configure) { gateway in
                try await gateway.registerVectors()
                let port = gateway.addresses.main.http2
                let good = try await RawConnection.open(port: port, tls: try gateway.tls)
                let bad = try await RawConnection.open(port: port, tls: try gateway.tls)
                good.write(Self.opening)
                good.write(try Self.request(1, token: token, endStream: true))
                _ = try await good.read { Self.hasResponse($0, to: 1) }
                bad.write(Self.opening)
                bad.write(try Self.request(1, token: Vectors.providerTokenForged, endStream: true))
                let end = await bad.readToEnd()
                #expect(Self.hasResponse(end, to: 1))
                #expect(PeerFrame.frames(end).last?.type == .goAway)
                // Later than all deadlines, and larger than the budget.
                good.write(try Self.unfinished(300, from: 3))
                good.write(try Self.request(9001, token: token, endStream: true))
                _ = try await good.read { Self.hasResponse($0, to: 9001) }
                await good.close()
            }
        }
    }

    // MARK: Bytes

    private static var opening: [UInt8] {
        var bytes = ByteBuffer(string: HTTP2Constants.preface)
        bytes.writeSettings([])
        bytes.write(FrameHeader(length: 0, type: .settings, flags: .acknowledgement))
        return Array(bytes.readableBytesView)
    }

    /// Requests of which the end is missing, of 5 kB each.
    private static func unfinished(_ count: Int, from first: UInt32 = 1) throws -> [UInt8] {
        var bytes: [UInt8] = []
        for number in 0..<count {
            let stream = first + UInt32(number) * 2
            bytes += try Self.request(stream, token: "none", endStream: false)
            var body = ByteBuffer()
            body.write(FrameHeader(length: 4096, type: .data, streamID: stream))
            body.writeRepeatingByte(0x20, count: 4096)
            bytes += body.readableBytesView
        }
        return bytes
    }

    private static func request(_ stream: UInt32, token: String, endStream: Bool) throws -> [UInt8] {
        // A table of its own, so that each block stands for itself.
        var block = ByteBuffer()
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        try encoder.encode(
            headers: HPACKHeaders(Vectors.pushHeaders + [("authorization", "bearer \(token)")]),
            to: &block
        )
        var bytes = ByteBuffer()
        bytes.write(
            FrameHeader(
                length: block.readableBytes,
                type: .headers,
                flags: endStream ? [.endHeaders, .endStream] : .endHeaders,
                streamID: stream
            )
        )
        bytes.writeImmutableBuffer(block)
        return Array(bytes.readableBytesView)
    }

    private static func hasResponse(_ bytes: [UInt8], to stream: UInt32) -> Bool {
        PeerFrame.frames(bytes).contains { $0.type == .headers && $0.streamID == stream }
    }
}
