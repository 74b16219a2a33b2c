import AsyncHTTPClient
import Foundation
package import MartletKit
import NIOCore
import NIOHTTP1
import PushSupport
package import PushTypes

/// Sends the app's requests with AsyncHTTPClient, as Foundation keeps a core busy on Linux while a request waits.
///
/// It follows no redirection, so that neither key nor secret reaches another host. Each request has a connection of its own.
package struct HTTPClientTransport: MartletTransport {
    private let configuration: HTTPClient.Configuration

    /// - Parameter proxy: The HTTP proxy that tunnels to the provider (CONNECT), with or without TLS; `nil` for none.
    package init(proxy: ProxyEndpoint? = nil) {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        // A refused connection fails at once, instead of being tried again until the deadline.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.proxy = proxy.map { proxy in
            let authorization = proxy.user.map {
                HTTPClient.Authorization.basic(username: $0, password: proxy.password ?? "")
            }
            return .server(host: proxy.host, port: proxy.port, authorization: authorization)
        }
        self.configuration = configuration
    }

    package func send(_ request: TransportRequest) async throws -> TransportResponse {
        do {
            return try await request.withDeadline {
                try await HTTPClient.withHTTPClient(configuration: self.configuration) { client in
                    try await Self.exchange(request, client)
                }
            }
        } catch is NIOTooManyBytesError {
            throw TransportError.responseTooLarge
        } catch let error as HTTPClientError {
            try Task.checkCancellation()
            throw Self.explained(error)
        } catch let error as TransportError {
            throw error
        } catch {
            throw ConnectionError(description: ErrorDescription.of(error))
        }
    }

    private static func exchange(_ request: TransportRequest, _ client: HTTPClient) async throws -> TransportResponse {
        var message = HTTPClientRequest(url: request.url.absoluteString)
        message.method = HTTPMethod(rawValue: request.method)
        for (name, value) in request.headers { message.headers.add(name: name, value: value) }
        if !request.body.isEmpty { message.body = .bytes(ByteBuffer(bytes: request.body)) }
        let response = try await client.execute(message, deadline: .now() + TimeAmount(request.deadline))
        let body = try await response.body.collect(upTo: request.maximumResponse)
        return TransportResponse(
            status: Int(response.status.code),
            headers: Dictionary(response.headers.map { ($0.lowercased(), $1) }) { "\($0), \($1)" },
            body: Data(body.readableBytesView)
        )
    }

    private static func explained(_ error: HTTPClientError) -> any Error {
        switch error {
        case .deadlineExceeded, .readTimeout, .writeTimeout: TransportError.deadlineExceeded
        case .connectTimeout: ConnectionError(description: "no connection in time: check the network and the provider")
        case .remoteConnectionClosed:
            ConnectionError(description: "the connection was closed without a response: check the URL and its scheme")
        case .proxyAuthenticationRequired:
            ConnectionError(description: "the proxy wants a user and a password, or does not accept them (407)")
        default: ConnectionError(description: "\(error)")
        }
    }
}

/// The error of a connection, in words.
private struct ConnectionError: Error, CustomStringConvertible {
    let description: String
}
