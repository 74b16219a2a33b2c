import Crypto
package import Foundation

/// Encrypts the payloads of one notification, each to the key of an installation, in base64.
///
/// It uses HPKE in base mode (RFC 9180) with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305. MartletKit
/// decrypts the encapsulated key and ciphertext (docs/decisions/0030-encrypted-content-and-screens.md).
package struct ContentSealer: Sendable {
    /// The error for a key to which no payload can be encrypted.
    package struct UnusableKey: Error, Hashable {}

    private static let ciphersuite = HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly
    private static let info = Data("martlet push 1".utf8)

    /// The additional authenticated data, which binds a ciphertext to the app and the notification.
    private let authenticated: Data

    /// Creates a sealer for a notification. `bundleID` is that of the app, as the installation has registered it.
    package init(bundleID: String, notification: UUID) {
        self.authenticated = Data("\(bundleID)\n\(notification.uuidString)".utf8)
    }

    /// Encrypts a payload for the installation with the given key, and returns it in base64.
    ///
    /// Each call creates an ephemeral key, so that equal payloads have different ciphertexts.
    /// - Parameters:
    ///   - payload: The JSON text of the whole payload, without the member `martlet`.
    ///   - key: The installation's raw X25519 public key, which ``InstallationPublicKey/isUsable(_:)`` has checked.
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
