import Crypto
import Foundation
import PushTypes

/// The signature that proves to a receiver that a request comes from this provider, is unchanged, and is recent.
///
/// The header is `martlet-signature: t=<seconds>,v1=<hex>`. `<hex>` is the HMAC-SHA256 of `<seconds>.<body>`, with the
/// seconds since 1970. There is one `v1` per secret.
enum WebhookSignature {
    static let header = "martlet-signature"

    /// Returns the value of the header.
    /// - Parameter secrets: At least one secret, the newest first.
    static func make(of body: Data, secrets: [String], at now: Timestamp) -> String {
        let message = Data("\(now.seconds).".utf8) + body
        let values = secrets.map { secret in
            let key = SymmetricKey(data: Data(secret.utf8))
            return ",v1=" + Hexadecimal.encode(HMAC<SHA256>.authenticationCode(for: message, using: key))
        }
        return "t=\(now.seconds)" + values.joined()
    }
}
