import Crypto
package import Foundation

/// Encrypts the payloads of one notification, each to the key of an installation.
///
/// It uses HPKE in base mode (RFC 9180) with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305. The text is the
/// base64 of the encapsulated key and the ciphertext; MartletKit opens it (docs/decisions/0030-encrypted-content-and-screens.md).
package struct ContentSealer: Sendable {
    /// The payload cannot be encrypted to this key.
    package struct UnusableKey: Error, Hashable {}

    /// The bytes that encryption adds: the encapsulated key and the tag.
    private static let overhead = 32 + 16
    private static let ciphersuite = HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly
    private static let info = Data("martlet push 1".utf8)

    /// The authenticated data, which binds a ciphertext to the app and the notification.
    private let authenticated: Data

    /// - Parameter bundleID: The bundle id of the app, as the installation has registered it.
    package init(bundleID: String, notification: UUID) {
        self.authenticated = Data("\(bundleID)\n\(notification.uuidString)".utf8)
    }

    /// Returns the length of the text for a payload of `length` bytes.
    package static func sealedLength(ofPayload length: Int) -> Int { (length + self.overhead + 2) / 3 * 4 }

    /// Returns `true` for a public key that an installation may register.
    ///
    /// Keys of another length are refused, and so are points of small order, whose shared secret is publicly known (RFC 9180
    /// section 7.1.4). swift-crypto leaves the latter check to its users.
    package static func accepts(_ key: Data) -> Bool {
        guard let key = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: key),
            let secret = try? Curve25519.KeyAgreement.PrivateKey().sharedSecretFromKeyAgreement(with: key)
        else { return false }
        return secret.withUnsafeBytes { bytes in bytes.contains { $0 != 0 } }
    }

    /// Returns the base64 text of a payload, encrypted so that only the installation with the key can read it.
    ///
    /// Each call makes an ephemeral key, so that equal payloads have different texts.
    /// - Parameters:
    ///   - payload: The JSON text of the whole payload, without the member `martlet`.
    ///   - key: The raw X25519 public key of the installation, which ``accepts(_:)`` has checked.
    package func seal(_ payload: Data, to key: Data) throws(UnusableKey) -> String {
        do {
            let key = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: key)
            var sender = try HPKE.Sender(recipientKey: key, ciphersuite: Self.ciphersuite, info: Self.info)
            return (sender.encapsulatedKey + (try sender.seal(payload, authenticating: self.authenticated)))
                .base64EncodedString()
        } catch {
            throw UnusableKey()
        }
    }
}
