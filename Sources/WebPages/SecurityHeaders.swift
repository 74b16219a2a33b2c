package import HTTPTypes

/// The header fields of every page. With them, a page loads nothing from other origins, runs only Martlet's own
/// scripts, and cannot be framed.
package enum SecurityHeaders {
    /// The content security policy. It has no `unsafe-inline`, because pages contain neither scripts nor styles.
    package static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
        "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'",
    ].joined(separator: "; ")

    /// Returns the header fields of a page, which must not be cached.
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
