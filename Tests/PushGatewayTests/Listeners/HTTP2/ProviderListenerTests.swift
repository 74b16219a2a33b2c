import NIOCore
import NIOHPACK
import NIOSSL
import PushTesting
import PushWire
import Testing

@testable import PushGateway

/// The listener as independent clients meet it (APNs reference 7.10 rows 1–4 and 6).
@Suite(.timeLimit(.patience)) struct ProviderListenerTests {
    @Test(arguments: [[], ["h2"], ["http/1.1", "h2"]])
    func aBurstBeforeTheSettingsIsAcceptedWithAndWithoutALPN(protocols: [String]) async throws {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: directory) { gateway in
                var tls = try gateway.tls
                tls.applicationProtocols = protocols
                let connection = try await RawConnection.open(port: gateway.addresses.main.http2, tls: tls)
                connection.write(try Self.burst(100))
                let bytes = try await connection.read { bytes in
                    PeerFrame.frames(bytes).count { $0.type == .data } == 100
                }
                await connection.close()
                let frames = PeerFrame.frames(bytes)
                var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
                for frame in frames where frame.type == .headers {
                    var block = ByteBuffer(bytes: frame.content)
                    let headers = try decoder.decodeHeaders(from: &block)
                    #expect(headers[":status"] == ["403"])
                    #expect(headers["apns-id"] == [Self.id(frame.streamID)], "byte for byte, on errors too")
                    #expect(frame.flags == .endHeaders)
                }
                let bodies = frames.filter { $0.type == .data }
                #expect(Set(bodies.map(\.streamID)).count == 100, "one DATA frame each")
                #expect(bodies.allSatisfy { $0.flags == .endStream && !$0.content.isEmpty })
            }
        }
    }

    /// Requests with `host` in place of `:authority` and without `content-length`, in one write after the preface.
    private static func burst(_ count: Int) throws -> [UInt8] {
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        var bytes = ByteBuffer(string: HTTP2Constants.preface)
        bytes.writeSettings([])
        for number in 0..<count {
            let stream = UInt32(number) * 2 + 1
            var block = ByteBuffer()
            let headers = Vectors.pushHeaders + [("host", "localhost"), ("apns-id", Self.id(stream))]
            try encoder.encode(headers: HPACKHeaders(headers), to: &block)
            bytes.write(FrameHeader(length: block.readableBytes, type: .headers, flags: .endHeaders, streamID: stream))
            bytes.writeImmutableBuffer(block)
            let body = Vectors.payload
            bytes.write(FrameHeader(length: body.utf8.count, type: .data, flags: .endStream, streamID: stream))
            bytes.writeString(body)
        }
        return Array(bytes.readableBytesView)
    }

    /// In mixed case.
    private static func id(_ stream: UInt32) -> String {
        let digits = String(stream)
        return "EABEAE54-14a8-11e5-B60b-" + String(repeating: "0", count: 12 - digits.count) + digits
    }
}
