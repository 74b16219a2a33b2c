import HTTPTypes
import HummingbirdCore
import ProviderModel
import PushWire

/// The origins under which Web Push senders reach the provider: the configured one, or else that of each request.
struct PushOrigins: Sendable {
    private let configured: WebOrigin?
    private let isSecure: Bool

    /// Creates the origins of a listener.
    /// - Parameters:
    ///   - configured: The configured origin, or `nil` to use the origin of each request.
    ///   - isSecure: Whether the listener itself speaks TLS.
    init(configured: String?, isSecure: Bool) {
        (self.configured, self.isSecure) = (configured.flatMap { WebOrigin($0) }, isSecure)
    }

    /// Returns the origin for the URLs in the response to a request, or `nil` if the request has no host.
    func own(_ request: Request) -> WebOrigin? {
        if let configured { return configured }
        guard let host = request.head.authority else { return nil }
        let forwarded = request.headers[values: .xForwardedProto].first?.lowercased()
        return WebOrigin("\(self.isSecure || forwarded == "https" ? "https" : "http")://\(host)")
    }

    /// Returns the origins that the VAPID token of a sender may name as its audience. If none is configured, these are
    /// the origin in the push resource's record with both schemes, because the scheme is not known behind a proxy.
    ///
    /// The origin of the current request is not accepted, because an attacker could obtain a sender's token for the
    /// attacker's own origin and name that origin in a request.
    func accepted(of resource: PushResourceRecord) -> [WebOrigin] {
        if let configured { return [configured] }
        guard let origin = resource.origin, let scheme = origin.firstRange(of: "://") else { return [] }
        return ["https", "http"].compactMap { WebOrigin("\($0)://\(origin[scheme.upperBound...])") }
    }
}
