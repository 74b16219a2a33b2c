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

/// The API of a provider over TLS, with HTTP/2 and HTTP/1.1.
@Suite(.timeLimit(.patience)) struct TLSServerChannelTests {
    /// A running provider with TLS.
    private struct Server: Sendable {
        let port: Int
        let key: String
        let certificate: SelfSignedCertificate

        /// Performs a request, and returns the response with its protocol version.
        func get(_ path: String, _ version: HTTPClient.Configuration.HTTPVersion) async throws -> HTTPClientResponse {
            var configuration = HTTPClient.Configuration(tlsConfiguration: try self.certificate.client)
            configuration.httpVersion = version
            configuration.timeout = .patience
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            var request = HTTPClientRequest(url: "https://localhost:\(self.port)\(path)")
            request.headers.add(name: "authorization", value: "Bearer \(self.key)")
            do {
                let response = try await client.execute(request, timeout: .patience)
                _ = try await response.body.collect(upTo: 1 << 20)
                try await client.shutdown()
                return response
            } catch {
                try await client.shutdown()
                throw error
            }
        }

        /// Opens a connection whose protocol is HTTP/2, and writes its preface.
        func open() async throws -> RawConnection {
            var tls = try self.certificate.client
            tls.applicationProtocols = ["h2"]
            let connection = try await RawConnection.open(port: self.port, tls: tls)
            connection.write(Array(HTTP2Constants.preface.utf8) + Frame.settings)
            return connection
        }
    }

    /// The frames that a client writes.
    private enum Frame {
        static let settings = Self.make(4, 0, 0, [])

        static func make(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ content: [UInt8]) -> [UInt8] {
            let length = content.count
            let header: [UInt8] = [
                UInt8(truncatingIfNeeded: length >> 16), UInt8(truncatingIfNeeded: length >> 8),
                UInt8(truncatingIfNeeded: length), type, flags,
            ]
            return header + (0..<4).map { UInt8(truncatingIfNeeded: stream >> (24 - 8 * $0)) } + content
        }

        /// The header block of a request; without an authorization if `key` is `nil`.
        static func block(_ method: UInt8, _ path: String, key: String? = nil) -> [UInt8] {
            let authority = "localhost"
            // :method and :scheme https by index, :authority and :path as literals (RFC 7541 appendix A).
            var block: [UInt8] = [method, 0x87, 0x41, UInt8(authority.utf8.count)] + Array(authority.utf8)
            block += [0x44, UInt8(path.utf8.count)] + Array(path.utf8)
            if let key {
                let value = Array("Bearer \(key)".utf8)
                block += [0x0f, 0x08, UInt8(value.count)] + value
            }
            return block
        }

        static func get(_ stream: UInt32, _ path: String, key: String? = nil) -> [UInt8] {
            Self.make(1, 0x5, stream, Self.block(0x82, path, key: key))
        }

        /// The head of a POST whose body follows.
        static func post(_ stream: UInt32, _ path: String, key: String? = nil) -> [UInt8] {
            Self.make(1, 0x4, stream, Self.block(0x83, path, key: key))
        }
    }

    private func withServer<Value: Sendable>(
        limits: @Sendable (inout ProviderConfiguration.Limits) -> Void = { _ in },
        _ body: @escaping @Sendable (Server) async throws -> Value
    ) async throws -> Value {
        try await withTLSProvider(limits: limits) { port, key, certificate in
            try await body(Server(port: port, key: key, certificate: certificate))
        }
    }

    @Test func bothProtocolsAreServed() async throws {
        try await self.withServer { server in
            let second = try await server.get("/v1/apps", .automatic)
            #expect(second.status == .ok)
            #expect(second.version == .http2)
            let first = try await server.get("/v1/apps", .http1Only)
            #expect(first.status == .ok)
            #expect(first.version == .http1_1)
        }
    }

    @Test func plainHTTPAndGarbageAreClosed() async throws {
        try await self.withServer { server in
            for bytes in [Array("GET /health HTTP/1.1\r\nhost: a\r\n\r\n".utf8), [UInt8](repeating: 0xff, count: 9000)]
            {
                let connection = try await RawConnection.open(port: server.port)
                connection.write(bytes)
                let response = await connection.readToEnd()
                #expect(!String(decoding: response, as: UTF8.self).contains("200"))
            }
            #expect(try await server.get("/health", .automatic).status == .ok)
        }
    }

    /// Each flood of frames ends its connection, also one with a valid key.
    @Test(arguments: ["reset", "ping", "settings", "continuation", "empty data", "garbage", "streams"])
    func aFloodEndsItsConnection(kind: String) async throws {
        try await self.withServer { server in
            let connection = try await server.open()
            connection.write(Frame.get(1, "/v1/apps", key: server.key))
            let bytes: [UInt8]
            switch kind {
            case "reset":
                bytes = (1...2000).flatMap { number -> [UInt8] in
                    let stream = UInt32(number) * 2 + 1
                    return Frame.get(stream, "/v1/apps", key: server.key) + Frame.make(3, 0, stream, [0, 0, 0, 8])
                }
            case "ping": bytes = (1...20_000).flatMap { _ in Frame.make(6, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8]) }
            case "settings": bytes = (1...20_000).flatMap { _ in Frame.settings }
            case "continuation":
                let rest = (1...1000).flatMap { _ in Frame.make(9, 0, 3, [0x00, 0x01, 0x61, 0x01, 0x62]) }
                bytes = Frame.make(1, 0, 3, Frame.block(0x82, "/health")) + rest
            case "empty data":
                bytes = Frame.post(3, "/v1/apps", key: server.key) + (1...1000).flatMap { _ in Frame.make(0, 0, 3, []) }
            case "garbage": bytes = Frame.make(1, 0x4, 3, [UInt8](repeating: 0xff, count: 200))
            default:
                // Each stream waits for a body that never comes, up to the limit and beyond.
                bytes = (1...500).flatMap { Frame.post(UInt32($0) * 2 + 1, "/v1/apps", key: server.key) }
            }
            connection.write(bytes)
            let frames = PeerFrame.frames(await connection.readToEnd())
            #expect(frames.contains { $0.type == .goAway } || frames.count { $0.type == .resetStream } < 1000)
            #expect(try await server.get("/health", .automatic).status == .ok)
        }
    }

    /// Its body never ends, and the response comes at once. The connection goes on.
    @Test func anEarlyResponseEndsItsStreamOnly() async throws {
        try await self.withServer { server in
            let connection = try await server.open()
            let app = "/v1/apps/com.example.a/devices:import"
            connection.write(Frame.post(1, app) + Frame.make(0, 0, 1, Array("token\n".utf8)))
            _ = try await connection.read { bytes in
                PeerFrame.frames(bytes).contains { $0.streamID == 1 && $0.flags.contains(.endStream) }
            }
            connection.write(Frame.get(3, "/health"))
            let later = try await connection.read { bytes in
                PeerFrame.frames(bytes).contains { $0.streamID == 3 && $0.flags.contains(.endStream) }
            }
            #expect(!PeerFrame.frames(later).contains { $0.type == .goAway })
            await connection.close()
        }
    }

    /// A byte now and then does not keep a stream open.
    @Test func aBodyThatDripsEndsItsStream() async throws {
        try await withGrowingLimit { limit in
            try await self.withServer(limits: { $0.request = limit }) { server in
                let connection = try await server.open()
                connection.write(Frame.post(1, "/v1/apps", key: server.key) + Frame.make(0, 0, 1, Array("{".utf8)))
                let drips = Task {
                    while !Task.isCancelled {
                        connection.write(Frame.make(0, 0, 1, Array(" ".utf8)))
                        try await Task.sleep(for: limit / 10)
                    }
                }
                let bytes = try? await connection.read { bytes in
                    PeerFrame.frames(bytes).contains {
                        $0.streamID == 1 && ($0.type == .resetStream || $0.type == .headers)
                    }
                }
                drips.cancel()
                await connection.close()
                return PeerFrame.frames(bytes ?? []).contains { $0.streamID == 1 }
            }
        }
    }

    /// Makes a request, and returns `true` if it has a whole response.
    private static func isServed(_ connection: RawConnection, stream: UInt32, key: String) async -> Bool {
        connection.write(Frame.get(stream, "/v1/apps", key: key))
        let bytes = try? await connection.read { bytes in
            PeerFrame.frames(bytes).contains { $0.streamID == stream && $0.flags.contains(.endStream) }
        }
        return PeerFrame.frames(bytes ?? []).contains { $0.streamID == stream && $0.flags.contains(.endStream) }
    }

    /// Neither a handshake nor requests without a key keep a connection open, and a key does.
    @Test func aConnectionWithoutAKeyEndsInTime() async throws {
        try await withGrowingLimit { limit in
            try await self.withServer(limits: { $0.unauthenticated.deadline = TimeAmount(limit) }) { server in
                let silent = try await RawConnection.open(port: server.port)
                #expect(await silent.readToEnd().isEmpty)
                let open = try await server.open()
                open.write(Frame.get(1, "/health") + Frame.get(3, "/v1/apps"))
                guard !(await open.readToEnd()).isEmpty else { return false }
                let known = try await server.open()
                guard await Self.isServed(known, stream: 1, key: server.key) else { return false }
                // Another silent connection ends after it, in the order of age.
                #expect(await (try RawConnection.open(port: server.port)).readToEnd().isEmpty)
                #expect(await Self.isServed(known, stream: 3, key: server.key))
                await known.close()
                return true
            }
        }
    }
}
