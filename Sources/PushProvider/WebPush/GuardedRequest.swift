import AsyncHTTPClient
package import Foundation
import NIOCore
import NIOHTTP1
import PushSupport
package import PushTypes

/// Makes requests to URLs that others have named, by the rules of where posts of webhooks may go. Every request has a
/// connection of its own, to an address that was checked for it.
package struct GuardedRequest: Sendable {
    private let addresses: AddressPolicy
    private let resolver: any NameResolver
    private let deadline: Duration

    /// - Parameter deadline: The most time from the look-up of the name to the head of the response. Default 10 s.
    package init(
        addresses: AddressPolicy,
        resolver: any NameResolver = SystemResolver(),
        deadline: Duration = .seconds(10)
    ) {
        (self.addresses, self.resolver, self.deadline) = (addresses, resolver, deadline)
    }

    /// The end of a request.
    package enum End: Hashable, Sendable {
        /// The server has answered. `retryAfter` is the delay that it asks for.
        case answered(status: Int, retryAfter: Duration?)
        /// The rules do not allow the URL, or the addresses of its name.
        case notAllowed(reason: String)
        case failed(reason: String)
    }

    /// Makes a request, and ignores the body of the response.
    /// - Parameter app: The app whose look-ups are limited together.
    package func send(
        _ method: String,
        to url: String,
        headers: [(name: String, value: String)] = [],
        body: Data? = nil,
        app: Int64,
        now: Timestamp
    ) async -> End {
        await withTaskGroup(of: End.self) { group in
            group.addTask { await self.unbounded(method, url, headers, body, app, now) }
            group.addTask {
                try? await Task.sleep(for: self.deadline)
                return .failed(reason: "the server was too slow")
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failed(reason: "the request was cancelled")
        }
    }

    private func unbounded(
        _ method: String,
        _ url: String,
        _ headers: [(name: String, value: String)],
        _ body: Data?,
        _ app: Int64,
        _ now: Timestamp
    ) async -> End {
        let client: PinnedClient
        do throws(PinnedClientFailure) {
            client = try await PinnedClient(url, app: app, self.addresses, self.resolver, deadline: self.deadline)
        } catch {
            return End(error)
        }
        var request = HTTPClientRequest(url: client.address.url)
        request.method = HTTPMethod(rawValue: method)
        request.headers.add(name: "user-agent", value: "martlet")
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        let end: End
        do throws(PinnedClientFailure) {
            let response = try await client.execute(request, deadline: self.deadline)
            let after = RetryAfter.read(response.headers.first(name: "retry-after"), now: now)
            end = .answered(status: Int(response.status.code), retryAfter: after)
        } catch {
            end = End(error)
        }
        await client.close()
        return end
    }
}

extension GuardedRequest.End {
    fileprivate init(_ failure: PinnedClientFailure) {
        switch failure {
        case .noResponse(let reason), .noConnection(let reason): self = .failed(reason: reason)
        case .addressNotAllowed(let reason): self = .notAllowed(reason: reason)
        }
    }
}
