import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import PushProvider

/// The client of URLs that an administrator has named in a bridge's settings, by the rules for webhooks of where requests may
/// go. Every request has a connection of its own, to an address that was checked for it.
struct GuardedClient: Sendable {
    let policy: AddressPolicy
    let resolver: any NameResolver
    /// The most time from the look-up of the name to the end of the response.
    let deadline: Duration

    struct Response: Sendable {
        var status: Int
        var headers: HTTPHeaders
        var body: Data
    }

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - app: The app whose look-ups of names are limited together.
    ///   - maximum: The longest body of a response, in bytes.
    /// - Throws: ``PinnedClientFailure``.
    func request(
        _ method: HTTPMethod,
        _ url: String,
        headers: HTTPHeaders,
        body: Data,
        app: Int64,
        maximum: Int
    ) async throws(PinnedClientFailure) -> Response {
        // The client's own deadline ends with the head of the response.
        let first = await withTaskGroup(of: Result<Response, PinnedClientFailure>?.self) { group in
            group.addTask {
                do throws(PinnedClientFailure) {
                    let client = try await PinnedClient(
                        url,
                        app: app,
                        self.policy,
                        self.resolver,
                        deadline: self.deadline
                    )
                    let result: Result<Response, PinnedClientFailure>
                    do throws(PinnedClientFailure) {
                        var request = HTTPClientRequest(url: client.address.url)
                        (request.method, request.headers) = (method, headers)
                        request.body = .bytes(ByteBuffer(bytes: body))
                        let response = try await client.execute(request, deadline: self.deadline)
                        result = .success(try await Self.whole(response, maximum: maximum))
                    } catch {
                        result = .failure(error)
                    }
                    await client.close()
                    return result
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await Task.sleep(for: self.deadline)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        guard let first else { throw .noResponse(reason: "the server was too slow") }
        return try first.get()
    }

    private static func whole(
        _ response: HTTPClientResponse,
        maximum: Int
    ) async throws(PinnedClientFailure) -> Response {
        do {
            let body = try await response.body.collect(upTo: maximum)
            return Response(
                status: Int(response.status.code),
                headers: response.headers,
                body: Data(body.readableBytesView)
            )
        } catch is NIOTooManyBytesError {
            throw .noResponse(reason: "the response has more than \(maximum) bytes")
        } catch {
            throw .noResponse(reason: PinnedClient.description(of: error))
        }
    }
}

extension PinnedClientFailure {
    /// The failure in words.
    var text: String {
        switch self {
        case .noResponse(let reason), .noConnection(let reason), .addressNotAllowed(let reason): reason
        }
    }
}
