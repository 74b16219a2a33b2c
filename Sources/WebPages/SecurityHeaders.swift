package import HTTPTypes

/// The security header fields of every page. They prevent a page from loading anything from other origins, from running
/// scripts other than Martlet's, and from being framed.
package enum SecurityHeaders {
    /// The content security policy. It needs no `unsafe-inline`, because pages contain neither inline scripts nor
    /// styles.
    package static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
        "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'",
    ].joined(separator: "; ")

    /// Returns the header fields of a page, which also forbid caching it. Pass `true` for `isSecure` if browsers reach
    /// the pages over TLS. The fields then require TLS for later requests.
    package static func page(isSecure: Bool) -> HTTPFields {
        var headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
            .contentSecurityPolicy: Self.contentSecurityPolicy, .xContentTypeOptions: "nosniff",
        ]
        for (name, value) in [
            ("referrer-policy", "same-origin"), ("x-frame-options", "DENY"),
            ("cross-origin-opener-policy", "same-origin"), ("cross-origin-resource-policy", "same-origin"),
            ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
        ] {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        if isSecure { headers[.strictTransportSecurity] = "max-age=31536000" }
        return headers
    }
}
