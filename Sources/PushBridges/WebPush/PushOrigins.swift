import HTTPTypes
import HummingbirdCore
import ProviderModel
import PushWire

/// The origins under which senders reach the provider: the configured one, or that of each request.
struct PushOrigins: Sendable {
    private let configured: WebOrigin?
    private let isSecure: Bool

    /// - Parameters:
    ///   - configured: The configured origin, or `nil` for that of each request.
    ///   - isSecure: Whether the listener itself speaks TLS.
    init(configured: String?, isSecure: Bool) {
        (self.configured, self.isSecure) = (configured.flatMap { WebOrigin($0) }, isSecure)
    }

    /// Returns the origin of the addresses in a response, or `nil` for a request without a host.
    func own(_ request: Request) -> WebOrigin? {
        if let configured { return configured }
        guard let host = request.head.authority else { return nil }
        let forwarded = request.headers[values: .xForwardedProto].first?.lowercased()
        return WebOrigin("\(self.isSecure || forwarded == "https" ? "https" : "http")://\(host)")
    }

    /// Returns the origins that a sender may name for a push resource. It has both schemes, because the scheme is not
    /// known behind a proxy.
    ///
    /// The origin of the request does not count, because an attacker could obtain a sender's token for an origin of
    /// their own and name that origin.
    func accepted(of resource: PushResourceRecord) -> [WebOrigin] {
        if let configured { return [configured] }
        guard let origin = resource.origin, let scheme = origin.firstRange(of: "://") else { return [] }
        return ["https", "http"].compactMap { WebOrigin("\($0)://\(origin[scheme.upperBound...])") }
    }
}
