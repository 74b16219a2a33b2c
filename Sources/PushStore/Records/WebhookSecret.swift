import Foundation

/// What a webhook's posts are signed with: `whsec_` and 32 random bytes in base64url. The key of the signature is this
/// whole text.
///
/// A webhook's record holds one secret, or while it is being changed two with a space between them, the newer first.
package enum WebhookSecret {
    package static let prefix = "whsec_"

    /// A new secret.
    package static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = Data((0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) })
        return self.prefix
            + bytes.base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    /// `new` beside the newest of `stored`, so that receivers that know either accept what is posted.
    package static func adding(_ new: String, to stored: String) -> String {
        ([new] + self.all(in: stored).prefix(1)).joined(separator: " ")
    }

    /// Only the newest of `stored`: the end of a rotation.
    package static func newest(of stored: String) -> String {
        self.all(in: stored).first ?? stored
    }

    /// The newest first.
    package static func all(in stored: String) -> [String] {
        stored.split(separator: " ").map(String.init)
    }
}
