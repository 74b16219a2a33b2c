import Crypto
import Foundation
import PushTypes

/// The signature that proves to a receiver that a post comes from this provider, is unchanged and recent.
///
/// The header is `martlet-signature: t=<seconds>,v1=<hex>`. The hexadecimal text is the HMAC-SHA256 of `<seconds>.<body>`, with
/// the seconds since 1970. There is one `v1` per secret.
enum WebhookSignature {
    static let header = "martlet-signature"
    /// The maximum age of a post, and the maximum time that it may be ahead: five minutes.
    static let tolerance: Duration = .seconds(300)

    /// The maximum length of a header, in bytes. A longer one is rejected unread.
    private static let maximumLength = 1024

    /// Returns the value of the header.
    /// - Parameter secrets: at least one secret, the newest first.
    static func make(of body: Data, secrets: [String], at now: Timestamp) -> String {
        let values = secrets.map { ",v1=" + Hexadecimal.encode(self.code(body, secret: $0, seconds: now.seconds)) }
        return "t=\(now.seconds)" + values.joined()
    }

    /// Returns `true` if `header` signs `body` with `secret` at about `now`. It is for receivers in Swift and for tests.
    static func verify(
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
