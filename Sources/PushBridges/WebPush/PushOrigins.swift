import Hummingbird
import HummingbirdCore
import PushStore
import PushWire

/// The origins by which others know the provider: the configured one, or that of each request.
struct PushOrigins: Sendable {
    private let configured: WebOrigin?
    private let isSecure: Bool

    /// - Parameters:
    ///   - configured: The configured origin; `nil` for that of each request.
    ///   - isSecure: Whether the listener itself speaks TLS.
    init(configured: String?, isSecure: Bool) {
        (self.configured, self.isSecure) = (configured.flatMap { WebOrigin($0) }, isSecure)
    }

    /// Returns the origin of addresses that are given out in a response; `nil` for a request without a host.
    func own(_ request: Request) -> WebOrigin? {
        if let configured { return configured }
        guard let host = request.head.authority else { return nil }
        let forwarded = request.headers[values: .xForwardedProto].first?.lowercased()
        return WebOrigin("\(self.isSecure || forwarded == "https" ? "https" : "http")://\(host)")
    }

    /// Returns the origins that a sender may name for a push resource. Behind a proxy the scheme is not known.
    ///
    /// The request has no part in it: who asks for a token of the sender for their own origin would name that.
    func accepted(of resource: PushResourceRecord) -> [WebOrigin] {
        if let configured { return [configured] }
        guard let origin = resource.origin, let scheme = origin.firstRange(of: "://") else { return [] }
        return ["https", "http"].compactMap { WebOrigin("\($0)://\(origin[scheme.upperBound...])") }
    }
}
