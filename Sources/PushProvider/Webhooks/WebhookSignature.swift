import Crypto
package import Foundation
package import PushTypes

/// Proves to a receiver that a post is ours, whole and not old: header `martlet-signature: t=<seconds>,v1=<hex>`, where
/// the hexadecimal text is HMAC-SHA256 of `<seconds>.<body>`, seconds since 1970. There is one `v1` per secret.
package enum WebhookSignature {
    package static let header = "martlet-signature"
    /// How old, or how far ahead, a post may be: five minutes.
    package static let tolerance: Duration = .seconds(300)

    /// A header longer than this is refused unread, in bytes.
    private static let maximumLength = 1024

    /// The header's value.
    /// - Parameter secrets: at least one, the newest first.
    package static func make(of body: Data, secrets: [String], at now: Timestamp) -> String {
        let values = secrets.map { ",v1=" + Hexadecimal.encode(self.code(body, secret: $0, seconds: now.seconds)) }
        return "t=\(now.seconds)" + values.joined()
    }

    /// Whether `header` signs `body` with `secret` at about `now`. For receivers in Swift and for tests.
    package static func verify(
        _ header: String,
        of body: Data,
        secret: String,
        now: Timestamp,
        tolerance: Duration = Self.tolerance
    ) -> Bool {
        guard header.utf8.count <= self.maximumLength else { return false }
        var seconds: Int64?
        var codes: [[UInt8]] = []
        for part in header.split(separator: ",") {
            if part.hasPrefix("t="), seconds == nil {
                seconds = Int64(part.dropFirst(2))
            } else if part.hasPrefix("v1="), let code = Hexadecimal.decode(part.dropFirst(3)) {
                codes.append(code)
            }
        }
        guard let seconds else { return false }
        let age = now.since(Timestamp(seconds: seconds))
        guard age <= tolerance, Timestamp(seconds: seconds).since(now) <= tolerance else { return false }
        let message = self.message(body, seconds: seconds)
        let key = SymmetricKey(data: Data(secret.utf8))
        return codes.contains { HMAC<SHA256>.isValidAuthenticationCode($0, authenticating: message, using: key) }
    }

    private static func code(_ body: Data, secret: String, seconds: Int64) -> HMAC<SHA256>.MAC {
        let key = SymmetricKey(data: Data(secret.utf8))
        return HMAC<SHA256>.authenticationCode(for: self.message(body, seconds: seconds), using: key)
    }

    private static func message(_ body: Data, seconds: Int64) -> Data {
        Data("\(seconds).".utf8) + body
    }
}
