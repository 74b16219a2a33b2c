import Foundation
import PushProvider
import PushSupport
import PushWire
import Synchronization

/// Posts a body of another system to an endpoint of UnifiedPush, as it is (RFC 8030 without encryption).
struct UnifiedPushForwarder: Sendable {
    /// The longest endpoint, and the longest body, in bytes (UnifiedPush, server specification).
    static let (maximumEndpoint, maximumBody) = (1000, WebPushRequest.maximumBody)
    /// The most posts at a time.
    private static let maximumInFlight = 64
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

    private let client: GuardedRequest
    private let time: any TimeSource
    private let inFlight = InFlight()

    init(client: GuardedRequest, time: any TimeSource) { (self.client, self.time) = (client, time) }

    /// Posts a body.
    /// - Parameters:
    ///   - app: The app whose look-ups of names are limited together.
    ///   - isUrgent: Whether the device may be woken for it.
    func forward(_ body: Data, to endpoint: String, app: Int64, isUrgent: Bool) async -> End {
        guard endpoint.utf8.count <= Self.maximumEndpoint else { return .gone }
        guard (1...Self.maximumBody).contains(body.count) else { return .refused(status: 413) }
        guard self.inFlight.begin(limit: Self.maximumInFlight) else { return .unavailable(retryAfter: .seconds(1)) }
        defer { self.inFlight.end() }
        // Push servers of UnifiedPush expect the coding of Web Push, whatever the body is.
        let headers = [
            (name: "ttl", value: Self.ttl), (name: "content-encoding", value: "aes128gcm"),
            (name: "urgency", value: (isUrgent ? WebPushRequest.Urgency.high : .normal).rawValue),
        ]
        let end = await self.client.send(
            "POST",
            to: endpoint,
            headers: headers,
            body: body,
            app: app,
            now: self.time.now
        )
        switch end {
        case .answered(200..<300, _): return .accepted
        case .answered(404, _), .answered(410, _): return .gone
        case .answered(408, let after), .answered(429, let after), .answered(500..., let after):
            return .unavailable(retryAfter: after)
        case .answered(let status, _): return .refused(status: status)
        case .notAllowed: return .notAllowed
        case .failed: return .unavailable(retryAfter: nil)
        }
    }

    /// The number of posts on their way.
    private final class InFlight: Sendable {
        private let count = Mutex(0)

        func begin(limit: Int) -> Bool {
            self.count.withLock { count in
                guard count < limit else { return false }
                count += 1
                return true
            }
        }

        func end() { self.count.withLock { $0 -= 1 } }
    }
}

extension UnifiedPushForwarder: UnifiedPushForwarding {
    /// Forwards the body of a homeserver's request.
    ///
    /// What no repetition would deliver is dropped: a homeserver repeats a request for a day, and holds back all later ones.
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
