package import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL
import PushSupport

/// The failure of a request that a ``PinnedClient`` makes.
package enum PinnedClientFailure: Error, Hashable, Sendable {
    /// A request without a response. The server may have received the request.
    case noResponse(reason: String)
    /// A connection that could not be opened, so that nothing was sent.
    case noConnection(reason: String)
    /// A name that was not looked up because too many look-ups are in progress. Nothing was sent, and the failure says
    /// nothing about the receiver.
    case resolverBusy(reason: String)
    /// A URL that the policy does not allow, or whose host name has no allowed address. Nothing was sent.
    case addressNotAllowed(reason: String)
    /// A response whose body exceeds this maximum length, in bytes.
    case tooLong(maximum: Int)

    package var text: String {
        switch self {
        case .noResponse(let reason), .noConnection(let reason), .resolverBusy(let reason),
            .addressNotAllowed(let reason):
            reason
        case .tooLong(let maximum): "the response has more than \(maximum) bytes"
        }
    }
}

/// An HTTP client for one URL from a caller of the API.
///
/// The host name is resolved and checked once. All requests are sent to the checked address, even if the name resolves
/// to another address later. Redirects are not followed.
package struct PinnedClient: Sendable {
    package let address: WebhookAddress
    private let client: HTTPClient

    /// Checks a URL, and resolves its host name to the address for all requests.
    /// - Parameters:
    ///   - app: The app on whose behalf the name is looked up.
    ///   - source: The source of the URL.
    ///   - attempt: The number of the attempt. Each attempt uses another address of the name.
    ///   - speaksHTTP2: `true` to use HTTP/2 if the server supports it, for concurrent requests over one connection.
    ///     Default `false`.
    ///   - deadline: The maximum time for resolving the name, and again for connecting.
    /// - Throws: ``PinnedClientFailure`` if the URL is not allowed, or the name has no allowed address.
    package init(
        _ url: String,
        app: Int64,
        givenBy source: HostNameSource,
        attempt: Int = 0,
        _ policy: AddressPolicy,
        _ resolver: any NameResolver,
        speaksHTTP2: Bool = false,
        deadline: Duration
    ) async throws(PinnedClientFailure) {
        do {
            self.address = try WebhookAddress(url, policy: policy)
        } catch {
            throw .addressNotAllowed(reason: error.message)
        }
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.httpVersion = speaksHTTP2 ? .automatic : .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = TimeAmount(deadline)
        if self.address.literal == nil {
            let found: [IPAddress]
            do {
                let host = self.address.host
                found = try await resolver.addresses(of: host, for: app, givenBy: source, within: deadline)
            } catch NameResolutionFailure.busy {
                throw .resolverBusy(reason: "\(NameResolutionFailure.busy)")
            } catch {
                throw .noConnection(reason: "\(error)")
            }
            guard let address = policy.choice(of: found, attempt: attempt) else {
                throw .addressNotAllowed(
                    reason: "its name resolves to private or reserved addresses only, see \(WebhookAddress.hint)"
                )
            }
            configuration.dnsOverride = [self.address.host: address.description]
        }
        self.client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Closes the connection. It must be called after the last request.
    package func close() async { try? await self.client.shutdown() }

    /// Sends a request to this client's host.
    /// - Parameter deadline: The maximum time until the response head arrives.
    /// - Throws: ``PinnedClientFailure`` if there is no response within the deadline.
    package func execute(
        _ request: HTTPClientRequest,
        deadline: Duration
    ) async throws(PinnedClientFailure) -> HTTPClientResponse {
        do {
            return try await self.client.execute(request, deadline: .now() + TimeAmount(deadline))
        } catch {
            let reason = Self.description(of: error)
            throw Self.isOfConnection(error) ? .noConnection(reason: reason) : .noResponse(reason: reason)
        }
    }

    /// Returns whether an error occurred before the request was sent. If not, the request may have been sent.
    private static func isOfConnection(_ error: any Error) -> Bool {
        switch error as? HTTPClientError {
        case .connectTimeout?, .getConnectionFromPoolTimeout?, .tlsHandshakeTimeout?: true
        case .some: false
        case nil:
            switch error {
            // The server closed the connection, maybe after it had received the request.
            case NIOSSLError.uncleanShutdown: false
            case is NIOConnectionError, is NIOSSLError, is NIOSSLExtraError, ChannelError.connectTimeout: true
            // The host is an address, so that the error is not wrapped in one with a list of attempts.
            case let error as IOError: error.errnoCode == ECONNREFUSED || error.errnoCode == ENETUNREACH
            default: false
            }
        }
    }

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
