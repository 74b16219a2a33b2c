import PushTypes

/// The secret that signs a webhook's posts: `whsec_` and 32 random bytes in base64url. The whole text is the key.
///
/// A webhook's record holds one secret, or while it is being changed two with a space between them, the newer first.
package enum WebhookSecret {
    package static let prefix = "whsec_"

    /// Makes a new secret.
    package static func make() -> String { self.prefix + RandomText.make() }

    /// Returns `new` beside the newest of `stored`, so that receivers that know either accept the posts.
    package static func adding(_ new: String, to stored: String) -> String {
        ([new] + self.all(in: stored).prefix(1)).joined(separator: " ")
    }

    /// Returns only the newest of `stored`, at the end of a rotation.
    package static func newest(of stored: String) -> String { self.all(in: stored).first ?? stored }

    /// Returns the stored secrets, the newest first.
    package static func all(in stored: String) -> [String] {
        stored.split(separator: " ").map(String.init)
    }
}

/// The random part of secrets and API keys.
package enum RandomText {
    /// The number of random bytes.
    package static let length = 32

    /// Returns random bytes in base64url (RFC 4648 section 5), without padding.
    package static func make() -> String { Base64URL.encode(RandomBytes.make(Self.length)) }
}
