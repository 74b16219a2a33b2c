#if Encryption
import Crypto
import Foundation

/// The format of encrypted content: HPKE in base mode (RFC 9180) with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and
/// ChaCha20-Poly1305. One message is encrypted with each encapsulated key.
enum ContentEncryption {
    static let ciphersuite = HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly
    static let info = Data("martlet push 1".utf8)
    /// In bytes.
    static let encapsulatedKeyLength = 32

    /// Returns the bytes that tie a ciphertext to the app and the notification.
    static func authenticatedData(app: String, notification: UUID) -> Data {
        Data("\(app)\n\(notification.uuidString)".utf8)
    }

    /// Returns the plaintext of an encapsulated key with the ciphertext after it.
    /// - Throws: An error if it is not authentic, or was not encrypted to this key.
    static func open(
        _ sealed: Data,
        with key: Curve25519.KeyAgreement.PrivateKey,
        info: Data = Self.info,
        authenticating authenticated: Data
    ) throws -> Data {
        var recipient = try HPKE.Recipient(
            privateKey: key,
            ciphersuite: self.ciphersuite,
            info: info,
            encapsulatedKey: Data(sealed.prefix(self.encapsulatedKeyLength))
        )
        return try recipient.open(sealed.dropFirst(self.encapsulatedKeyLength), authenticating: authenticated)
    }
}
#endif
