import Foundation
import NIOHTTP1
import PushProvider
import PushSupport
import PushWire
import Synchronization

/// Posts a body of another system to an endpoint of UnifiedPush, as it is (RFC 8030 without encryption).
struct UnifiedPushForwarder: Sendable {
    /// The longest endpoint, and the longest body, in bytes (UnifiedPush, server specification).
    static let (maximumEndpoint, maximumBody) = (1000, WebPushRequest.maximumBody)
    /// The most posts at a time, and those to one push server, so that a slow one leaves room to others.
    private static let (maximumInFlight, maximumOfServer) = (256, 64)
    /// The time for which a push server keeps a message: one day.
    private static let ttl = "86400"

    /// The end of a post.
    enum End: Hashable, Sendable {
        case accepted
        /// The endpoint is gone, or none.
        case gone
        /// The push server does not take this message.
        case refused(status: Int)
        /// The rules of this provider do not allow the endpoint, which may be good.
        case notAllowed
        /// Another try may succeed.
        case unavailable(retryAfter: Duration?)
    }

    private let client: GuardedClient
    private let time: any TimeSource
    private let inFlight = InFlight()

    init(client: GuardedClient, time: any TimeSource) { (self.client, self.time) = (client, time) }

    /// Posts a body.
    /// - Parameters:
    ///   - app: The app whose look-ups of names are limited together.
    ///   - isUrgent: Whether the device may be woken for it.
    func forward(_ body: Data, to endpoint: String, app: Int64, isUrgent: Bool) async -> End {
        guard endpoint.utf8.count <= Self.maximumEndpoint else { return .gone }
        guard (1...Self.maximumBody).contains(body.count) else { return .refused(status: 413) }
        guard let server = WebOrigin(endpoint) else { return .notAllowed }
        guard self.inFlight.begin(server, limit: Self.maximumInFlight, ofServer: Self.maximumOfServer) else {
            return .unavailable(retryAfter: .seconds(1))
        }
        defer { self.inFlight.end(server) }
        // Push servers of UnifiedPush expect the coding of Web Push, whatever the body is.
        let headers: HTTPHeaders = [
            "user-agent": "martlet", "ttl": Self.ttl, "content-encoding": "aes128gcm",
            "urgency": (isUrgent ? WebPushRequest.Urgency.high : .normal).rawValue,
        ]
        do throws(PinnedClientFailure) {
            let response = try await self.client.request(.POST, endpoint, headers: headers, body: body, app: app)
            switch response.status {
            case 200..<300: return .accepted
            case 404, 410: return .gone
            case 408, 429, 500...: return .unavailable(retryAfter: response.retryAfter(now: self.time.now))
            default: return .refused(status: response.status)
            }
        } catch {
            if case .addressNotAllowed = error { return .notAllowed }
            return .unavailable(retryAfter: nil)
        }
    }

    /// The numbers of posts on their way.
    final class InFlight: Sendable {
        private struct State {
            var all = 0
            var ofServer: [WebOrigin: Int] = [:]
        }

        private let state = Mutex(State())

        /// Begins a post, which ends with ``end(_:)``.
        /// - Returns: `false` for one too many.
        func begin(_ server: WebOrigin, limit: Int, ofServer serverLimit: Int) -> Bool {
            self.state.withLock { state in
                guard state.all < limit, state.ofServer[server, default: 0] < serverLimit else { return false }
                state.all += 1
                state.ofServer[server, default: 0] += 1
                return true
            }
        }

        func end(_ server: WebOrigin) {
            self.state.withLock { state in
                state.all -= 1
                let left = state.ofServer[server, default: 1] - 1
                state.ofServer[server] = left > 0 ? left : nil
            }
        }
    }
}

extension UnifiedPushForwarder: UnifiedPushForwarding {
    /// Forwards the body of a homeserver's request.
    ///
    /// Drops a message that no repetition would deliver: a homeserver repeats a request for a day, and holds back all later ones.
    package func forward(_ body: [UInt8], to endpoint: String, app: Int64) async throws -> UnifiedPushOutcome {
        switch await self.forward(Data(body), to: endpoint, app: app, isUrgent: true) {
        case .accepted, .refused, .notAllowed: return .accepted
        case .gone: return .gone
        case .unavailable(let delay):
            let message = "the push server of an endpoint cannot be reached now"
            let error = RequestError(.unavailable, code: "endpoint_unavailable", message: message)
            throw RetryLaterError(error, after: delay ?? .seconds(5))
        }
    }
}
