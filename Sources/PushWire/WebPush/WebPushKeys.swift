import Crypto
import PushTypes

/// The keys of a subscription, with which messages to it are encrypted (RFC 8291 section 2).
package struct WebPushKeys: Hashable, Sendable {
    /// The lengths in bytes of an uncompressed P-256 public key and of an authentication secret.
    package static let (publicLength, secretLength) = (65, 16)
    /// The maximum length of a message's plaintext, in bytes. The encrypted body then has 4,096 bytes, which every push
    /// service accepts (RFC 8030 section 7.2).
    package static let maximumContent = 3993

    /// The user agent's public key (`p256dh`).
    package let publicKey: [UInt8]
    /// The authentication secret (`auth`).
    package let secret: [UInt8]

    /// Creates the keys. Returns `nil` for a public key that is not a point on the curve, or a secret of wrong length.
    package init?(publicKey: [UInt8], secret: [UInt8]) {
        guard Self.isPublicKey(publicKey), secret.count == Self.secretLength else { return nil }
        (self.publicKey, self.secret) = (publicKey, secret)
    }

    /// Returns whether the bytes are an uncompressed point on the curve.
    package static func isPublicKey(_ bytes: [UInt8]) -> Bool {
        bytes.count == Self.publicLength && (try? P256.KeyAgreement.PublicKey(x963Representation: bytes)) != nil
    }

    /// Encrypts a plaintext, and returns the body of the message.
    ///
    /// Each call generates a new key pair and a new salt.
    /// - Throws: An error of the cryptography library.
    package func seal(_ content: [UInt8]) throws -> [UInt8] {
        let salt = RandomBytes.make(EncryptedContent.saltLength)
        return try self.seal(content, as: P256.KeyAgreement.PrivateKey(), salt: salt)
    }

    /// Encrypts a plaintext with the given key pair and salt, which must not be used for any other message.
    func seal(_ content: [UInt8], as sender: P256.KeyAgreement.PrivateKey, salt: [UInt8]) throws -> [UInt8] {
        let senderKey = Array(sender.publicKey.x963Representation)
        let agent = try P256.KeyAgreement.PublicKey(x963Representation: self.publicKey)
        // The input keying material (section 3.3).
        let key = try sender.sharedSecretFromKeyAgreement(with: agent).hkdfDerivedSymmetricKey(
            using: SHA256.self,
            salt: self.secret,
            sharedInfo: Array("WebPush: info\0".utf8) + self.publicKey + senderKey,
            outputByteCount: 32
        )
        return try EncryptedContent.seal(content, key: key, salt: salt, keyID: senderKey)
    }
}

/// The content coding `aes128gcm` with a single record (RFC 8188), as used by Web Push (RFC 8291 section 4). A body
/// consists of the salt (16 bytes), the record size (4), the length of the key id (1), the key id, and the record,
/// including its tag (16).
enum EncryptedContent {
    static let saltLength = 16
    /// The record size in encoded bodies. A body with a single record has no more bytes than that.
    private static let recordSize: UInt32 = 4096
    private static let lastDelimiter: UInt8 = 2

    /// Encrypts a plaintext, and returns the body with the given salt and key id.
    /// - Parameter key: The input keying material (RFC 8188 section 2.2).
    static func seal(_ content: [UInt8], key: SymmetricKey, salt: [UInt8], keyID: [UInt8]) throws -> [UInt8] {
        func derive(_ info: String, _ length: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: key,
                salt: salt,
                info: Array("Content-Encoding: \(info)\0".utf8),
                outputByteCount: length
            )
        }
        let nonce = try AES.GCM.Nonce(data: derive("nonce", 12).withUnsafeBytes { Array($0) })
        let box = try AES.GCM.seal(content + [Self.lastDelimiter], using: derive("aes128gcm", 16), nonce: nonce)
        let size = withUnsafeBytes(of: Self.recordSize.bigEndian, Array.init)
        return salt + size + [UInt8(truncatingIfNeeded: keyID.count)] + keyID + box.ciphertext + box.tag
    }
}
