import PushTypes

/// The random part of secrets and API keys.
package enum RandomText {
    /// The number of random bytes.
    package static let length = 32

    /// Returns random bytes in base64url (RFC 4648 section 5), without padding.
    package static func make() -> String { Base64URL.encode(RandomBytes.make(Self.length)) }
}
