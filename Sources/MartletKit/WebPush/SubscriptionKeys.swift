#if Encryption
import Crypto
public import Foundation

/// The keys of a Web Push subscription, to which the sender encrypts messages (RFC 8291).
///
/// Create keys for each push resource, pass ``publicKey`` and ``secret`` to the sender, and keep ``representation``
/// where only the app and its extension can read it, such as the keychain.
public struct SubscriptionKeys: Sendable {
    private static let (privateLength, secretLength, publicLength, tagLength) = (32, 16, 65, 16)

    private let key: P256.KeyAgreement.PrivateKey
    /// The authentication secret (`auth`), which has 16 bytes.
    public let secret: Data

    /// Generates new keys.
    public init() {
        self.key = P256.KeyAgreement.PrivateKey()
        self.secret = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) }
    }

    /// Restores the keys from a ``representation``. Returns `nil` for any other bytes.
    public init?(representation: Data) {
        guard representation.count == Self.privateLength + Self.secretLength,
            let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: representation.prefix(Self.privateLength))
        else { return nil }
        self.key = key
        self.secret = Data(representation.suffix(Self.secretLength))
    }

    /// The bytes to store: the private key and the secret.
    public var representation: Data { self.key.rawRepresentation + self.secret }

    /// The public key (`p256dh`), which has 65 bytes.
    public var publicKey: Data { self.key.publicKey.x963Representation }

    /// Decrypts the body of a message. Returns `nil` if it was changed or was encrypted for other keys.
    public func open(_ message: PushedMessage) -> Data? {
        switch message.coding {
        case .aes128gcm: self.open(Array(message.body))
        case .aesgcm(let salt, let publicKey): self.openLegacy(Array(message.body), Array(salt), Array(publicKey))
        }
    }

    /// Decrypts a body with one record. It consists of the salt (16 bytes), the record size (4), the key length (1),
    /// the key (65) and the record. Returns `nil` for a body that cannot be decrypted.
    private func open(_ body: [UInt8]) -> Data? {
        let header = 21 + Self.publicLength
        guard body.count > header + Self.tagLength, Int(body[20]) == Self.publicLength else { return nil }
        let (salt, sender) = (Array(body.prefix(16)), Array(body[21..<header]))
        let own = Array(self.publicKey)
        let info = Array("WebPush: info\0".utf8) + own + sender
        guard let key = self.keyingMaterial(sender, info: info) else { return nil }
        let record = Array(body.dropFirst(header))
        // The last record is at most as long as the record size, which is 18 or more (RFC 8188 section 2).
        let recordSize = body[16..<20].reduce(0) { $0 << 8 | Int($1) }
        guard recordSize >= 18, record.count <= recordSize else { return nil }
        guard let padded = Self.decrypt(record, key, salt, "aes128gcm", context: []),
            let end = padded.lastIndex(where: { $0 != 0 }), padded[end] == 2
        else { return nil }
        return Data(padded[..<end])
    }

    /// Decrypts a body in the format of the drafts, whose plaintext is the padding length (2 bytes), the padding and
    /// the content. Returns `nil` for a body that cannot be decrypted.
    private func openLegacy(_ body: [UInt8], _ salt: [UInt8], _ sender: [UInt8]) -> Data? {
        guard sender.count == Self.publicLength, salt.count == 16, body.count >= Self.tagLength + 2,
            let key = self.keyingMaterial(sender, info: Array("Content-Encoding: auth\0".utf8))
        else { return nil }
        func sized(_ bytes: [UInt8]) -> [UInt8] { [0, UInt8(truncatingIfNeeded: bytes.count)] + bytes }
        let context = Array("P-256\0".utf8) + sized(Array(self.publicKey)) + sized(sender)
        guard let padded = Self.decrypt(body, key, salt, "aesgcm", context: context), padded.count >= 2 else {
            return nil
        }
        let padding = Int(padded[0]) << 8 | Int(padded[1])
        guard padded.count >= 2 + padding, padded[2..<2 + padding].allSatisfy({ $0 == 0 }) else { return nil }
        return Data(padded.dropFirst(2 + padding))
    }

    private func keyingMaterial(_ sender: [UInt8], info: [UInt8]) -> SymmetricKey? {
        guard let sender = try? P256.KeyAgreement.PublicKey(x963Representation: sender),
            let shared = try? self.key.sharedSecretFromKeyAgreement(with: sender)
        else { return nil }
        return shared.hkdfDerivedSymmetricKey(
            using: SHA256.self,
            salt: self.secret,
            sharedInfo: info,
            outputByteCount: 32
        )
    }

    private static func decrypt(
        _ record: [UInt8],
        _ key: SymmetricKey,
        _ salt: [UInt8],
        _ coding: String,
        context: [UInt8]
    ) -> [UInt8]? {
        func derive(_ name: String, _ length: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: key,
                salt: salt,
                info: Array("Content-Encoding: \(name)\0".utf8) + context,
                outputByteCount: length
            )
        }
        let nonce = derive("nonce", 12).withUnsafeBytes { Array($0) }
        guard let nonce = try? AES.GCM.Nonce(data: nonce),
            let box = try? AES.GCM.SealedBox(
                nonce: nonce,
                ciphertext: record.dropLast(self.tagLength),
                tag: record.suffix(self.tagLength)
            ), let content = try? AES.GCM.open(box, using: derive(coding, 16))
        else { return nil }
        return Array(content)
    }
}
#endif
