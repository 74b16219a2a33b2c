package import AsyncHTTPClient
import NIOCore
import PushSupport

/// The failure of a request that a ``PinnedClient`` makes.
package enum PinnedClientFailure: Error, Hashable, Sendable {
    /// No response, or no connection.
    case noResponse(reason: String)
    /// The policy does not allow the URL, or the addresses of its name.
    case addressNotAllowed(reason: String)
}

/// An HTTP client for one URL that a caller of the API has named.
///
/// The name is resolved and checked once. All requests go to the checked address, so that a name that resolves to another one
/// later gains nothing. Redirects are not followed.
package struct PinnedClient: Sendable {
    package let address: WebhookAddress
    private let client: HTTPClient

    /// - Parameters:
    ///   - app: The app whose look-ups are limited together.
    ///   - attempt: The number of the try: another try goes to another address of the name.
    ///   - deadline: The most time to resolve the name, and to connect.
    /// - Throws: ``PinnedClientFailure``.
    package init(
        _ url: String,
        app: Int64,
        attempt: Int = 0,
        _ policy: AddressPolicy,
        _ resolver: any NameResolver,
        deadline: Duration
    ) async throws(PinnedClientFailure) {
        do {
            self.address = try WebhookAddress(url, policy: policy)
        } catch {
            throw .addressNotAllowed(reason: error.message)
        }
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = TimeAmount(deadline)
        if self.address.literal == nil {
            let found: [IPAddress]
            do {
                found = try await resolver.addresses(of: self.address.host, for: app, within: deadline)
            } catch {
                throw .noResponse(reason: "\(error)")
            }
            let allowed = found.filter(policy.allows)
            guard !allowed.isEmpty else {
                throw .addressNotAllowed(
                    reason: "its name resolves to private or reserved addresses only, see \(WebhookAddress.hint)"
                )
            }
            let address = allowed[Int(attempt.magnitude % UInt(allowed.count))]
            configuration.dnsOverride = [self.address.host: address.description]
        }
        self.client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Closes the connection. It must be called after the last request.
    package func close() async { try? await self.client.shutdown() }

    /// Makes a request, which names this client's host.
    /// - Parameter deadline: The most time until the head of the response.
    /// - Throws: ``PinnedClientFailure``.
    package func execute(
        _ request: HTTPClientRequest,
        deadline: Duration
    ) async throws(PinnedClientFailure) -> HTTPClientResponse {
        do {
            return try await self.client.execute(request, deadline: .now() + TimeAmount(deadline))
        } catch {
            throw .noResponse(reason: Self.description(of: error))
        }
    }

    /// Returns an error of the client in words.
    package static func description(of error: any Error) -> String {
        switch error as? HTTPClientError {
        case .deadlineExceeded?, .connectTimeout?, .getConnectionFromPoolTimeout?, .tlsHandshakeTimeout?:
            "the receiver was too slow"
        case .remoteConnectionClosed?: "the receiver closed the connection"
        case let error?: error.shortDescription
        case nil: String("\(error)".prefix(200))
        }
    }
}
