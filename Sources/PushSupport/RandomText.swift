import PushTypes

/// The random part of secrets and API keys.
package enum RandomText {
    /// The number of random bytes.
    private static let byteCount = 32
    /// The length of the text, in bytes.
    package static let length = (Self.byteCount * 4 + 2) / 3

    /// Returns random bytes in base64url (RFC 4648 section 5), without padding.
    package static func make() -> String { Base64URL.encode(RandomBytes.make(Self.byteCount)) }
}
