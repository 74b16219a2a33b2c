import Crypto
package import PushWire

/// The private side of a subscription, which opens messages (RFC 8291).
package struct WebPushSecret: Sendable {
    private let key: P256.KeyAgreement.PrivateKey
    private let secret: [UInt8]

    /// Makes new keys.
    package init() {
        self.key = P256.KeyAgreement.PrivateKey()
        self.secret = SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
    }

    /// The keys that senders get.
    package var keys: WebPushKeys? {
        WebPushKeys(publicKey: Array(self.key.publicKey.x963Representation), secret: self.secret)
    }

    /// Returns the content of a message with the coding `aes128gcm`; `nil` for one that was encrypted for another key.
    package func open(_ body: [UInt8]) -> [UInt8]? {
        // Salt, record size, length of the key, key, record with its tag.
        guard body.count > 102, body[20] == 65,
            let sender = try? P256.KeyAgreement.PublicKey(x963Representation: body[21..<86]),
            let shared = try? self.key.sharedSecretFromKeyAgreement(with: sender)
        else { return nil }
        let key = shared.hkdfDerivedSymmetricKey(
            using: SHA256.self,
            salt: self.secret,
            sharedInfo: Array("WebPush: info\0".utf8) + Array(self.key.publicKey.x963Representation) + body[21..<86],
            outputByteCount: 32
        )
        func derive(_ info: String, _ length: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: key,
                salt: body.prefix(16),
                info: Array("Content-Encoding: \(info)\0".utf8),
                outputByteCount: length
            )
        }
        guard let nonce = try? AES.GCM.Nonce(data: derive("nonce", 12).withUnsafeBytes { Array($0) }),
            let box = try? AES.GCM.SealedBox(
                nonce: nonce,
                ciphertext: body.dropFirst(86).dropLast(16),
                tag: body.suffix(16)
            ),
            let content = try? AES.GCM.open(box, using: derive("aes128gcm", 16)), content.last == 2
        else { return nil }
        return Array(content.dropLast())
    }
}
