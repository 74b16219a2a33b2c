import AsyncHTTPClient
package import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import PushGateway
import PushSupport

/// A provider at its plainest: HTTP/2 requests with whatever headers a test wants.
package struct PushClient: Sendable {
    package let gateway: RunningGateway
    private let client: HTTPClient

    package struct Response: Sendable {
        package var status: Int
        package var apnsID: String?
        package var body: Data

        package var reason: String? { (try? JSONValue(parsing: self.body))?["reason"].stringValue }
    }

    package func send(
        _ method: String = "POST",
        path: String,
        headers: [(String, String)],
        body: Data
    ) async throws -> Response {
        var request = HTTPClientRequest(url: "https://localhost:\(self.gateway.addresses.main.http2)\(path)")
        request.method = HTTPMethod(rawValue: method)
        request.headers = HTTPHeaders(headers)
        if !body.isEmpty { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await self.client.execute(request, timeout: .patience)
        return Response(
            status: Int(response.status.code),
            apnsID: response.headers.first(name: "apns-id"),
            body: Data(try await response.body.collect(upTo: 4096).readableBytesView)
        )
    }

    package static func with<Value: Sendable>(
        _ gateway: RunningGateway,
        _ body: (PushClient) async throws -> Value
    ) async throws -> Value {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(gateway.gateway.authorityPEM.utf8)))
        let client = HTTPClient(configuration: .init(tlsConfiguration: tls, timeout: .patience))
        do {
            let value = try await body(PushClient(gateway: gateway, client: client))
            try await client.shutdown()
            return value
        } catch {
            try await client.shutdown()
            throw error
        }
    }
}
