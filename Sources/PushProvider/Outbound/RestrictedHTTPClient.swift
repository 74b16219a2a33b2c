import AsyncHTTPClient
package import Foundation
import NIOCore
package import NIOHTTP1
import PushSupport
package import PushTypes

/// An HTTP client for URLs from outside the provider. It connects only to addresses that the ``AddressPolicy`` allows.
///
/// Each request uses a new connection, to an address that was checked for this request.
package struct RestrictedHTTPClient: Sendable {
    private let addresses: AddressPolicy
    private let resolver: any NameResolver
    private let source: HostNameSource
    private let deadline: Duration

    /// Creates a client.
    /// - Parameters:
    ///   - source: The source of the URLs.
    ///   - deadline: The maximum time for resolving the name, and then for the request with its response. Default 10 s.
    package init(
        addresses: AddressPolicy,
        resolver: any NameResolver,
        source: HostNameSource,
        deadline: Duration = .seconds(10)
    ) {
        (self.addresses, self.resolver, self.source, self.deadline) = (addresses, resolver, source, deadline)
    }

    package struct Response: Sendable {
        package var status: Int
        package var headers: HTTPHeaders
        /// The body of the response, or empty data if the caller did not request the body.
        package var body: Data

        /// Returns the delay before another request that the server's `retry-after` demands, or `nil` if it has none.
        package func retryAfter(now: Timestamp) -> Duration? {
            RetryAfter.read(self.headers.first(name: "retry-after"), now: now)
        }
    }

    /// Sends a request, and returns the response with any status.
    /// - Parameters:
    ///   - app: The app on whose behalf the name is looked up.
    ///   - maximum: The maximum length of the response's body, in bytes, or `nil` to ignore the body.
    /// - Throws: ``PinnedClientFailure`` if there is no response, or its body is too long.
    package func request(
        _ method: HTTPMethod,
        _ url: String,
        headers: HTTPHeaders,
        body: Data? = nil,
        app: Int64,
        maximum: Int? = nil
    ) async throws(PinnedClientFailure) -> Response {
        try await self.response(from: url, app: app, maximum: maximum) { address in
            var request = HTTPClientRequest(url: address.url)
            (request.method, request.headers) = (method, headers)
            if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
            return request
        }
    }

    /// Sends a request to the host of a URL.
    /// - Parameter request: Returns the request for the checked address. Its URL must have the host of this address.
    /// - Throws: ``PinnedClientFailure`` if there is no response, or its body is too long.
    func response(
        from url: String,
        app: Int64,
        maximum: Int?,
        to request: @escaping @Sendable (WebhookAddress) -> HTTPClientRequest
    ) async throws(PinnedClientFailure) -> Response {
        // The look-up has its own deadline, because a wait for its turn does not mean that the server is slow.
        let client = try await PinnedClient(
            url,
            app: app,
            givenBy: self.source,
            self.addresses,
            self.resolver,
            deadline: self.deadline
        )
        // The deadline of the pinned client ends with the head of the response.
        let result = try? await withTimeLimit(self.deadline) { () async -> Result<Response, PinnedClientFailure> in
            do throws(PinnedClientFailure) {
                let response = try await client.execute(request(client.address), deadline: self.deadline)
                return .success(try await Self.whole(response, maximum: maximum))
            } catch {
                return .failure(error)
            }
        }
        await client.close()
        guard let result else { throw .noResponse(reason: "the server was too slow") }
        return try result.get()
    }

    private static func whole(
        _ response: HTTPClientResponse,
        maximum: Int?
    ) async throws(PinnedClientFailure) -> Response {
        var whole = Response(status: Int(response.status.code), headers: response.headers, body: Data())
        guard let maximum else { return whole }
        do {
            whole.body = Data(try await response.body.collect(upTo: maximum).readableBytesView)
            return whole
        } catch is NIOTooManyBytesError {
            throw .tooLong(maximum: maximum)
        } catch {
            throw .noResponse(reason: PinnedClient.description(of: error))
        }
    }
}
