import Crypto
import CryptoExtras
import PushTypes
import SwiftASN1

/// Data that is encrypted with a passphrase as in OpenSSL 3, with PBKDF2, HMAC-SHA256 and AES-256 in CBC mode (RFC
/// 8018).
struct PBES2 {
    static let rounds = 100_000
    private static let saltLength = 16
    private static let keyLength = 32

    let algorithm: [UInt8]
    let ciphertext: [UInt8]

    /// Encrypts bytes with a key derived from a passphrase.
    /// - Throws: An error of swift-crypto, although it does not occur for these parameters.
    init(_ plaintext: [UInt8], passphrase: String) throws {
        let salt = RandomBytes.make(Self.saltLength)
        let iv = AES._CBC.IV()
        let key = try KDF.Insecure.PBKDF2.deriveKey(
            from: Array(passphrase.utf8),
            salt: salt,
            using: .sha256,
            outputByteCount: Self.keyLength,
            unsafeUncheckedRounds: Self.rounds
        )
        self.ciphertext = Array(try AES._CBC.encrypt(plaintext, using: key, iv: iv))
        self.algorithm = try Self.algorithm(salt: salt, iv: Array(iv))
    }

    /// Returns the data as an `EncryptedPrivateKeyInfo` (RFC 5958). The encrypted bytes must be a key.
    func keyInfo() throws -> [UInt8] {
        var coder = DER.Serializer()
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            coder.serializeRawBytes(self.algorithm)
            try coder.serialize(ASN1OctetString(contentBytes: self.ciphertext[...]))
        }
        return coder.serializedBytes
    }

    private static func algorithm(salt: [UInt8], iv: [UInt8]) throws -> [UInt8] {
        var coder = DER.Serializer()
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(ASN1ObjectIdentifier.pbes2)
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.serialize(ASN1ObjectIdentifier.pbkdf2)
                    try coder.appendConstructedNode(identifier: .sequence) { coder in
                        try coder.serialize(ASN1OctetString(contentBytes: salt[...]))
                        try coder.serialize(Self.rounds)
                        try coder.appendConstructedNode(identifier: .sequence) { coder in
                            try coder.serialize(ASN1ObjectIdentifier.hmacWithSHA256)
                            try coder.serialize(ASN1Null())
                        }
                    }
                }
                try coder.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.serialize(ASN1ObjectIdentifier.aes256CBC)
                    try coder.serialize(ASN1OctetString(contentBytes: iv[...]))
                }
            }
        }
        return coder.serializedBytes
    }
}

extension ASN1ObjectIdentifier {
    static let pbes2: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 5, 13]
    static let pbkdf2: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 5, 12]
    fileprivate static let hmacWithSHA256: ASN1ObjectIdentifier = [1, 2, 840, 113549, 2, 9]
    fileprivate static let aes256CBC: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 1, 42]
}
