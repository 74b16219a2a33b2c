import Foundation
import NIOCore
import PushHTTP
import PushSender
import PushTesting
import Testing

@testable import ProviderAPI

/// Responses before the end of their request, over a raw socket.
@Suite(.timeLimit(.patience)) struct EarlyResponseTests {
    static let app = "/v1/apps/\(Vectors.bundleID)"

    /// Each drips at a path that ends like an import, and none may: the response comes at once, and the connection ends.
    @Test(arguments: [
        ("POST /nothing/devices:import", nil, 404), ("POST \(app)/devices:import", nil, 401),
        ("POST \(app)/devices:import", "mk_wrong", 401), ("POST \(app)/devices", nil, 401),
        ("PATCH \(app)/devices:import", nil, 405),
    ])
    func aRejectedBodyIsNotRead(request: String, key: String?, status: Int) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let connection = try await RawConnection.open(port: Self.port(provider))
            let authorization = key.map { "authorization: Bearer \($0)\r\n" } ?? ""
            connection.write("\(request) HTTP/1.1\r\nhost: a\r\n\(authorization)content-length: 1000000\r\n\r\nx".utf8)
            let response = String(decoding: await connection.readToEnd(), as: UTF8.self)
            #expect(response.hasPrefix("HTTP/1.1 \(status)"))
            #expect(response.lowercased().contains("connection: close"))
        }
    }

    @Test func aBodyThatIsTooLongIsNotReadToItsEnd() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let connection = try await RawConnection.open(port: Self.port(provider))
            connection.write(
                """
                POST \(Self.app)/audience:count HTTP/1.1\r\nhost: a\r\nauthorization: Bearer \(provider.api.apiKey ?? "")\r
                content-length: 100000000\r\n\r\n
                """.utf8
            )
            connection.write([UInt8](repeating: 0x20, count: 1024 * 1024 + 1))
            let response = String(decoding: await connection.readToEnd(), as: UTF8.self)
            #expect(response.hasPrefix("HTTP/1.1 413"))
            #expect(response.lowercased().contains("connection: close"))
        }
    }

    /// Nothing was asked, or something that needs no key: neither is a proof.
    @Test(arguments: ["", "GET /health HTTP/1.1\r\nhost: a\r\nauthorization: Bearer mk_wrong\r\n\r\n"])
    func aConnectionWithoutAKeyEnds(request: String) async throws {
        let configure: (inout ProviderConfiguration) -> Void = {
            $0.limits.unauthenticated.deadline = .milliseconds(200)
        }
        try await withProvider(senders: ScriptedSender(), configure: configure) { provider in
            let connection = try await RawConnection.open(port: Self.port(provider))
            connection.write(request.utf8)
            let response = String(decoding: await connection.readToEnd(), as: UTF8.self)
            #expect(response.isEmpty || response.hasPrefix("HTTP/1.1 200"))
        }
    }

    /// Of what goes beyond their allowance: the one that holds the most makes room, and a client with a key does not
    /// notice.
    @Test func theBytesOfUnauthenticatedConnectionsAreBounded() async throws {
        let configure: (inout ProviderConfiguration) -> Void = { $0.limits.unauthenticated.bytes = 9000 }
        try await withProvider(senders: ScriptedSender(), configure: configure) { provider in
            let (one, other) = (
                try await RawConnection.open(port: Self.port(provider)),
                try await RawConnection.open(port: Self.port(provider))
            )
            one.write("GET /health HTTP/1.1\r\nhost: a\r\na: \(String(repeating: "a", count: 12_000))\r\n".utf8)
            other.write("GET /health HTTP/1.1\r\nhost: a\r\na: \(String(repeating: "a", count: 15_500))\r\n".utf8)
            #expect(await other.readToEnd().isEmpty)
            #expect(try await provider.api.get("/v1/apps").status == 200)
            one.write("\r\n".utf8)
            let response = try await one.read { String(decoding: $0, as: UTF8.self).contains("ok") }
            #expect(String(decoding: response, as: UTF8.self).hasPrefix("HTTP/1.1 200"))
            await one.close()
        }
    }

    private static func port(_ provider: RunningProvider) -> Int {
        URL(string: provider.api.baseURL)?.port ?? 0
    }
}
