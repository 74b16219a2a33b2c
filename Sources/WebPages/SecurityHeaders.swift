package import HTTPTypes

/// The header fields of every page: it loads nothing from elsewhere, runs no script but ours, and is in no frame.
package enum SecurityHeaders {
    /// The policy without `unsafe-inline`: neither scripts nor styles stand in a page.
    package static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
        "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'",
    ].joined(separator: "; ")

    /// Returns the fields of a page, which no cache keeps.
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
