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
            try await Self.withServer(deadline: limit) { port, key, certificate in
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

    private static func withServer<Value: Sendable>(
        deadline: Duration,
        _ body: @escaping @Sendable (Int, _ key: String, SelfSignedCertificate) async throws -> Value
    ) async throws -> Value {
        let certificate = try SelfSignedCertificate.shared.get()
        return try await withTemporaryDirectory { directory in
            let files = TLSFiles(certificate: "\(directory)/cert.pem", key: "\(directory)/key.pem")
            try certificate.pem.write(toFile: files.certificate, atomically: true, encoding: .utf8)
            try certificate.key.write(toFile: files.key, atomically: true, encoding: .utf8)
            return try await withProvider(
                senders: ScriptedSender(),
                configure: {
                    $0.tls = files
                    $0.limits.request = deadline
                }
            ) { provider in
                let port = try #require(Int(provider.api.baseURL.split(separator: ":").last ?? ""))
                return try await body(port, provider.api.apiKey ?? "", certificate)
            }
        }
    }
}
