import Crypto
import Foundation
import PushTypes

/// The keys of a subscription, to which messages are encrypted (RFC 8291 section 2).
package struct WebPushKeys: Hashable, Sendable {
    /// The lengths of a public key of P-256, not compressed, and of an authentication secret, in bytes.
    package static let (publicLength, secretLength) = (65, 16)
    /// The maximum length of a message's content, in bytes. Its body then has 4,096 bytes, which every push service
    /// takes (RFC 8030 section 7.2).
    package static let maximumContent = 3993
    /// The number of bytes that a body has besides its content.
    package static let overhead = 103

    /// The user agent's public key (`p256dh`).
    package let publicKey: [UInt8]
    /// The authentication secret (`auth`).
    package let secret: [UInt8]

    /// Makes the keys. Returns `nil` if the public key is not a point of the curve, or if the secret has another
    /// length.
    package init?(publicKey: [UInt8], secret: [UInt8]) {
        guard Self.isPublicKey(publicKey), secret.count == Self.secretLength else { return nil }
        (self.publicKey, self.secret) = (publicKey, secret)
    }

    /// Returns `true` for a point of the curve, not compressed.
    package static func isPublicKey(_ bytes: [UInt8]) -> Bool {
        bytes.count == Self.publicLength && (try? P256.KeyAgreement.PublicKey(x963Representation: bytes)) != nil
    }

    /// Returns the body of a message with a content.
    ///
    /// Each call makes a key pair and a salt of its own.
    /// - Throws: An error of the cryptography library.
    package func seal(_ content: [UInt8]) throws -> [UInt8] {
        let salt = RandomBytes.make(EncryptedContent.saltLength)
        return try self.seal(content, as: P256.KeyAgreement.PrivateKey(), salt: salt)
    }

    /// Returns the body of a message with a given key pair and salt, which no two messages may share.
    func seal(_ content: [UInt8], as sender: P256.KeyAgreement.PrivateKey, salt: [UInt8]) throws -> [UInt8] {
        let senderKey = Array(sender.publicKey.x963Representation)
        let agent = try P256.KeyAgreement.PublicKey(x963Representation: self.publicKey)
        let key = WebPushSecret.keyingMaterial(
            try sender.sharedSecretFromKeyAgreement(with: agent),
            secret: self.secret,
            userAgent: self.publicKey,
            sender: senderKey
        )
        return try EncryptedContent.seal(content, key: key, salt: salt, keyID: senderKey)
    }
}

/// The private side of a subscription, which opens messages.
package struct WebPushSecret: Sendable {
    private let key: P256.KeyAgreement.PrivateKey
    private let secret: [UInt8]

    /// Makes new keys.
    package init() {
        self.key = P256.KeyAgreement.PrivateKey()
        self.secret = RandomBytes.make(WebPushKeys.secretLength)
    }

    /// Makes the keys of a private key of 32 bytes and an authentication secret. Returns `nil` for others.
    package init?(privateKey: [UInt8], secret: [UInt8]) {
        guard let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: privateKey),
            secret.count == WebPushKeys.secretLength
        else { return nil }
        (self.key, self.secret) = (key, secret)
    }

    /// The keys that senders get.
    package var keys: WebPushKeys? {
        WebPushKeys(publicKey: Array(self.key.publicKey.x963Representation), secret: self.secret)
    }

    /// Returns the content of a message with the coding `aes128gcm`.
    package func open(_ body: [UInt8]) throws(EncryptedContent.Fault) -> [UInt8] {
        let header = try EncryptedContent.Header(body)
        guard let sender = try? P256.KeyAgreement.PublicKey(x963Representation: header.keyID),
            header.keyID.count == WebPushKeys.publicLength,
            let shared = try? self.key.sharedSecretFromKeyAgreement(with: sender)
        else { throw .keyID }
        let key = Self.keyingMaterial(
            shared,
            secret: self.secret,
            userAgent: Array(self.key.publicKey.x963Representation),
            sender: header.keyID
        )
        return try EncryptedContent.open(header, key: key)
    }

    /// Derives the input keying material from a shared secret (RFC 8291 section 3.3).
    static func keyingMaterial(
        _ shared: SharedSecret,
        secret: [UInt8],
        userAgent: [UInt8],
        sender: [UInt8]
    ) -> SymmetricKey {
        shared.hkdfDerivedSymmetricKey(
            using: SHA256.self,
            salt: secret,
            sharedInfo: Array("WebPush: info\0".utf8) + userAgent + sender,
            outputByteCount: 32
        )
    }
}
