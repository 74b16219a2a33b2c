package import HTTPTypes

/// The cookie that contains a session's token. Over TLS, its name has the prefix `__Host-`, so that no other host and
/// no unencrypted connection can set it (RFC 6265bis).
package struct SessionCookie: Sendable {
    private let isSecure: Bool
    private let name: String
    /// The maximum length of a token, in bytes. A longer one in a cookie is ignored.
    private static let maximumLength = 256

    /// Creates the cookie. `isSecure` is `true` if browsers reach the pages over TLS.
    package init(isSecure: Bool) {
        self.isSecure = isSecure
        self.name = isSecure ? "__Host-martlet" : "martlet"
    }

    /// Returns the token in the cookies of a request, or `nil` if they contain no valid one.
    package func token(in headers: HTTPFields) -> String? {
        let cookies = headers[values: .cookie].flatMap { $0.split(separator: ";") }
        for cookie in cookies {
            let pair = cookie.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, pair[0] == self.name, pair[1].utf8.count <= Self.maximumLength else { continue }
            return String(pair[1])
        }
        return nil
    }

    /// Returns the value of `set-cookie` that stores a token until the browser is closed.
    package func setting(_ token: String) -> String { "\(self.name)=\(token); \(self.attributes)" }

    package var clearing: String { "\(self.name)=; Max-Age=0; \(self.attributes)" }

    private var attributes: String { "Path=/; HttpOnly; SameSite=Strict\(self.isSecure ? "; Secure" : "")" }
}
