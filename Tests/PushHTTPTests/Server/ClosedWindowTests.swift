import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import ProviderAPI
import PushHTTP
import PushTesting
import PushWire
import Testing

/// Clients of the API that open no window for their responses (RFC 9113 section 6.9).
@Suite(.timeLimit(.patience)) struct ClosedWindowTests {
    private static let requests = 20

    /// Each stream ends at the deadline of its response, without a byte of it, and another client is served meanwhile.
    @Test(arguments: ["/v1/apps", "/openapi.json"])
    func aClientThatOpensNoWindowIsGivenUp(path: String) async throws {
        try await withGrowingLimit { limit in
            try await withTLSProvider(limits: { $0.request = limit }) { port, key, certificate in
                var tls = try certificate.client
                tls.applicationProtocols = ["h2"]
                let connection = try await RawConnection.open(port: port, tls: tls)
                var bytes = ByteBuffer(string: HTTP2Constants.preface)
                bytes.writeSettings([(.initialWindowSize, 0)])
                let streams = (0..<Self.requests).map { UInt32($0) * 2 + 1 }
                for stream in streams { Self.writeGet(path, key: key, stream: stream, to: &bytes) }
                connection.write(Array(bytes.readableBytesView))
                guard try await Self.isServed("https://localhost:\(port)/health", certificate) else { return false }
                let received = PeerFrame.frames(
                    try await connection.read { bytes in
                        PeerFrame.frames(bytes).count { $0.type == .resetStream } >= streams.count
                    }
                )
                await connection.close()
                #expect(Set(received.filter { $0.type == .resetStream }.map(\.streamID)) == Set(streams))
                #expect(Set(received.filter { $0.type == .headers }.map(\.streamID)) == Set(streams))
                #expect(!received.contains { $0.type == .data && !$0.content.isEmpty })
                return try await Self.isServed("https://localhost:\(port)/health", certificate)
            }
        }
    }

    private static func writeGet(_ path: String, key: String, stream: UInt32, to buffer: inout ByteBuffer) {
        // :method GET and :scheme https by index, :authority, :path and authorization as literals (RFC 7541 appendix A).
        var block: [UInt8] = [0x82, 0x87]
        for (name, value) in [([0x41], "localhost"), ([0x44], path), ([0x0f, 0x08], "Bearer \(key)")]
            as [([UInt8], String)]
        {
            block += name + [UInt8(value.utf8.count)] + Array(value.utf8)
        }
        let flags: FrameFlags = [.endHeaders, .endStream]
        buffer.write(FrameHeader(length: block.count, type: .headers, flags: flags, streamID: stream))
        buffer.writeBytes(block)
    }

    /// Returns `true` if a client that reads has a whole response in time.
    private static func isServed(_ url: String, _ certificate: SelfSignedCertificate) async throws -> Bool {
        var configuration = HTTPClient.Configuration(tlsConfiguration: try certificate.client)
        configuration.timeout = .patience
        return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            let response = try? await client.execute(HTTPClientRequest(url: url), timeout: .patience)
            return response?.status == .ok
        }
    }
}
