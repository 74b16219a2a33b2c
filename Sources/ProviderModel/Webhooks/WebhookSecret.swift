import PushSupport

/// The secret that signs a webhook's requests: `whsec_` and 32 random bytes in base64url. The whole text is the key.
///
/// A webhook's record holds one secret. During a rotation it holds two, separated by a space, the newer one first.
package enum WebhookSecret {
    package static let prefix = "whsec_"

    package static func make() -> String { self.prefix + RandomText.make() }

    /// Returns a new secret together with the newest of `stored`, so that receivers may know either of them.
    package static func adding(_ new: String, to stored: String) -> String {
        ([new] + self.all(in: stored).prefix(1)).joined(separator: " ")
    }

    /// Returns only the newest of `stored`, at the end of a rotation.
    package static func newest(of stored: String) -> String { self.all(in: stored).first ?? stored }

    /// Returns the stored secrets, the newest first.
    package static func all(in stored: String) -> [String] { stored.split(separator: " ").map(String.init) }
}
