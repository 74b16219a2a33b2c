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

/// The cookie that holds the token of a session.
///
/// Over TLS its name has the prefix `__Host-`, so that no other host and no plain connection can set it (RFC 6265bis).
package struct SessionCookie: Sendable {
    private let isSecure: Bool
    private let name: String
    /// The maximum length of a token, in bytes.
    private static let maximumLength = 256

    /// - Parameter isSecure: Whether the pages are reached over TLS.
    package init(isSecure: Bool) {
        self.isSecure = isSecure
        self.name = isSecure ? "__Host-martlet" : "martlet"
    }

    /// Returns the token in the cookies of a request, or `nil` if there is none.
    package func token(in headers: HTTPFields) -> String? {
        let cookies = headers[values: .cookie].flatMap { $0.split(separator: ";") }
        for cookie in cookies {
            let pair = cookie.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, pair[0] == self.name, pair[1].utf8.count <= Self.maximumLength else { continue }
            return String(pair[1])
        }
        return nil
    }

    /// Returns the value of `set-cookie` that stores a token until the browser ends.
    package func setting(_ token: String) -> String { "\(self.name)=\(token); \(self.attributes)" }

    /// The value of `set-cookie` that removes the cookie.
    package var clearing: String { "\(self.name)=; Max-Age=0; \(self.attributes)" }

    private var attributes: String { "Path=/; HttpOnly; SameSite=Strict\(self.isSecure ? "; Secure" : "")" }
}
