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
@Suite(.timeLimit(.patience)) struct UnauthenticatedConnectionTests {
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

    /// Runs a gateway at which a client without a credential ends after a limit, and no earlier.
    private func withEndings(
        after limit: Duration,
        _ body: @escaping @Sendable (RunningGateway) async throws -> Bool
    ) async throws -> Bool {
        try await withTemporaryDirectory { directory in
            let configure: (inout GatewayConfiguration) -> Void = {
                $0.limits.unauthenticated.deadline = TimeAmount(limit)
                $0.limits.unauthenticated.bytes = 1 << 20
            }
            return try await withGateway(in: directory, configure: configure, body)
        }
    }

    /// HTTP/2 after its settings.
    @Test func aConnectionWithoutACredentialEndsInTime() async throws {
        try await withGrowingLimit { limit in
            try await self.withEndings(after: limit) { gateway in
                let connection = try await RawConnection.open(
                    port: gateway.addresses.main.http2,
                    tls: try gateway.tls
                )
                connection.write(Self.opening)
                // HTTP/2 has to be spoken before the end.
                guard let last = PeerFrame.frames(await connection.readToEnd()).last else { return false }
                #expect(last.type == .goAway)
                #expect(last.words.last == HTTP2ErrorCode.noError.rawValue)
                return true
            }
        }
    }

    /// 0 binary, 1 admin.
    @Test(arguments: 0..<2) func aSilentConnectionEndsInTime(listener: Int) async throws {
        _ = try await self.withEndings(after: .milliseconds(300)) { gateway in
            let port = [gateway.addresses.main.binary, gateway.addresses.admin][listener]
            _ = await (try RawConnection.open(port: port)).readToEnd()
            return true
        }
    }

    @Test func aConnectionWithACredentialStaysAndAskedWithABadOneGoes() async throws {
        let token = try TestKey().token(issuedAt: SystemTime().now)
        try await withGrowingLimit { limit in
            try await self.withEndings(after: limit) { gateway in
                guard (try? await gateway.registerVectors()) != nil else { return false }
                let port = gateway.addresses.main.http2
                let good = try await RawConnection.open(port: port, tls: try gateway.tls)
                good.write(Self.opening)
                good.write(try Self.request(1, token: token, endStream: true))
                // An end in the handshake is an error.
                let first = try? await good.read { Self.hasResponse($0, to: 1) }
                guard let first, Self.hasResponse(first, to: 1) else { return false }
                let bad = try await RawConnection.open(port: port, tls: try gateway.tls)
                bad.write(Self.opening)
                bad.write(try Self.request(1, token: Vectors.providerTokenForged, endStream: true))
                let end = await bad.readToEnd()
                guard Self.hasResponse(end, to: 1) else { return false }
                #expect(PeerFrame.frames(end).last?.type == .goAway)
                // Later than all deadlines, and larger than the budget.
                good.write(try Self.unfinished(300, from: 3))
                good.write(try Self.request(9001, token: token, endStream: true))
                let response = try await good.read { Self.hasResponse($0, to: 9001) }
                #expect(Self.hasResponse(response, to: 9001))
                await good.close()
                return true
            }
        }
    }

    /// The feedback listener has 100 places, which strangers would hold for as long as a handshake may take.
    @Test func strangersTakeNoPlacesOfProviders() async throws {
        try await withTemporaryDirectory { directory in
            let configure: (inout GatewayConfiguration) -> Void = {
                $0.limits.connections = 1
                $0.limits.handshake = .seconds(600)
            }
            try await withGateway(in: directory, configure: configure) { gateway in
                try await gateway.registerVectors()
                let port = gateway.addresses.main.http2
                var silent: [RawConnection] = []
                for _ in 0..<3 { silent.append(try await RawConnection.open(port: port)) }
                let provider = try await RawConnection.open(port: port, tls: try gateway.tls)
                provider.write(Self.opening)
                let token = try TestKey().token(issuedAt: SystemTime().now)
                provider.write(try Self.request(1, token: token, endStream: true))
                let response = try await provider.read { Self.hasResponse($0, to: 1) }
                #expect(Self.hasResponse(response, to: 1))
                for connection in silent + [provider] { await connection.close() }
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
