import AsyncHTTPClient
import Foundation
package import MartletKit
import NIOCore
import NIOHTTP1
import PushSupport
package import PushTypes

/// A transport that uses AsyncHTTPClient, because Foundation on Linux keeps a core busy while a request waits. It
/// follows no redirects, so that neither the app's key nor a secret reaches another host. Each request opens a
/// connection, unless many apps share a client.
package struct HTTPClientTransport: DownloadTransport {
    private let configuration: HTTPClient.Configuration
    private let shared: SharedHTTPClient?

    /// Creates a transport that opens a connection for each request.
    /// - Parameter proxy: The HTTP proxy that tunnels to the provider with CONNECT, or `nil` for none.
    package init(proxy: ProxyEndpoint? = nil) {
        (self.configuration, self.shared) = (Self.configuration(proxy: proxy), nil)
    }

    /// Creates a transport for many apps that share connections.
    package init(sharing shared: SharedHTTPClient) {
        (self.configuration, self.shared) = (Self.configuration(proxy: nil), shared)
    }

    fileprivate static func configuration(proxy: ProxyEndpoint?) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        // A refused connection fails immediately, instead of being retried until the deadline.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.proxy = proxy.map { proxy in
            let authorization = proxy.user.map {
                HTTPClient.Authorization.basic(username: $0, password: proxy.password ?? "")
            }
            return .server(host: proxy.host, port: proxy.port, authorization: authorization)
        }
        return configuration
    }

    package func send(_ request: TransportRequest) async throws -> TransportResponse {
        try await self.withClient { client in
            try await request.deadline.limiting { try await Self.exchange(request, client) }
        }
    }

    package func receive(
        _ request: TransportRequest,
        _ part: @escaping @Sendable (ResponsePart) throws -> Void
    ) async throws {
        // The deadline is for the head. A body that stalls ends with the read timeout of the client.
        try await self.withClient(silence: request.deadline) { client in
            let response = try await client.execute(
                Self.message(request),
                deadline: .now() + TimeAmount(request.deadline)
            )
            func hand(_ arrived: ResponsePart) throws(PartError) {
                do { try part(arrived) } catch { throw PartError(error: error) }
            }
            try hand(.head(Self.head(of: response)))
            for try await bytes in response.body { try hand(.body(Data(bytes.readableBytesView))) }
        }
    }

    /// Calls `body` with the shared client, or with a new one that is closed afterwards.
    /// - Parameter silence: The maximum time in which no byte arrives at a new client, or `nil` for no limit. The
    ///   shared client has a fixed limit.
    private func withClient<Value: Sendable>(
        silence: Duration? = nil,
        _ body: @escaping @Sendable (HTTPClient) async throws -> Value
    ) async throws -> Value {
        do {
            if let shared { return try await shared.run(body) }
            var configuration = self.configuration
            configuration.timeout.read = silence.map { TimeAmount($0) }
            return try await HTTPClient.withHTTPClient(configuration: configuration) { try await body($0) }
        } catch is NIOTooManyBytesError {
            throw TransportError.responseTooLarge
        } catch let error as HTTPClientError {
            try Task.checkCancellation()
            throw Self.explained(error)
        } catch let error as TransportError {
            throw error
        } catch let error as PartError {
            throw error.error
        } catch {
            throw ConnectionError(description: ErrorDescription.of(error))
        }
    }

    private static func exchange(_ request: TransportRequest, _ client: HTTPClient) async throws -> TransportResponse {
        let deadline = NIODeadline.now() + TimeAmount(request.deadline)
        let response = try await client.execute(Self.message(request), deadline: deadline)
        let body = try await response.body.collect(upTo: request.maximumResponse)
        var whole = Self.head(of: response)
        whole.body = Data(body.readableBytesView)
        return whole
    }

    private static func message(_ request: TransportRequest) -> HTTPClientRequest {
        var message = HTTPClientRequest(url: request.url.absoluteString)
        message.method = HTTPMethod(rawValue: request.method)
        for (name, value) in request.headers { message.headers.add(name: name, value: value) }
        if !request.body.isEmpty { message.body = .bytes(ByteBuffer(bytes: request.body)) }
        return message
    }

    private static func head(of response: HTTPClientResponse) -> TransportResponse {
        TransportResponse(
            status: Int(response.status.code),
            headers: Dictionary(response.headers.map { ($0.lowercased(), $1) }) { "\($0), \($1)" }
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

private struct PartError: Error {
    let error: any Error
}

private struct ConnectionError: Error, CustomStringConvertible {
    let description: String
}

package final class SharedHTTPClient: Sendable {
    /// The maximum time in which no byte of a body arrives, after which the request fails.
    private static let silence: TimeAmount = .seconds(60)

    private let client: HTTPClient
    private let exchanges: CountingSemaphore

    /// Creates the client.
    /// - Parameters:
    ///   - connections: The maximum number of concurrent exchanges. Further exchanges wait, and their time limits begin
    ///     only after the wait.
    ///   - proxy: The HTTP proxy that tunnels to the provider, or `nil` for none.
    package init(connections: Int, proxy: ProxyEndpoint? = nil) {
        var configuration = HTTPClientTransport.configuration(proxy: proxy)
        configuration.timeout.read = Self.silence
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        self.client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        self.exchanges = CountingSemaphore(count: connections)
    }

    /// Closes the connections. No request may be sent afterwards.
    /// - Throws: An error of AsyncHTTPClient if the client cannot be shut down.
    package func close() async throws { try await self.client.shutdown() }

    func run<Value: Sendable>(_ body: @escaping @Sendable (HTTPClient) async throws -> Value) async throws -> Value {
        try await self.exchanges.run {
            try Task.checkCancellation()
            return try await body(self.client)
        }
    }
}
