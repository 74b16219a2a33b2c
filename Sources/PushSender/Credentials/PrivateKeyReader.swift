import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// Parses private keys, which may be encrypted.
enum PrivateKeyReader {
    /// The maximum length of a passphrase in BoringSSL, in bytes. A longer one is refused.
    static let maximumPassphraseLength = 1023
    /// The maximum number of keys in a file. More result in ``CredentialError/tooManyKeys``.
    static let maximumKeys = 16
    static let encryptedLabel = "ENCRYPTED PRIVATE KEY"
    /// The labels of keys in PKCS#8, PKCS#1 and SEC 1, including keys with the older encryption (RFC 1421).
    private static let plainLabels = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"]

    /// Parses keys in PKCS#8, PKCS#1 or SEC 1. No key is decrypted before the iterations of all keys have been checked.
    /// - Throws: ``CredentialError``, for example if a key is encrypted and `passphrase` is `nil`.
    static func keys(_ blocks: [PEMFile.Block], passphrase: String?) throws(CredentialError) -> [NIOSSLPrivateKey] {
        guard blocks.count <= Self.maximumKeys else { throw .tooManyKeys }
        var limit = KeyDerivationLimit()
        var texts: [String] = []
        for block in blocks { texts.append(try Self.text(block, passphrase: passphrase, limit: &limit)) }
        var keys: [NIOSSLPrivateKey] = []
        for (block, text) in zip(blocks, texts) {
            let key =
                if block.isEncrypted {
                    try Self.key(pem: text, passphrase: passphrase ?? "", failure: .wrongPassphrase)
                } else {
                    try Self.key(pem: text, passphrase: "", failure: .unsupportedPrivateKey)
                }
            keys.append(key)
        }
        return keys
    }

    /// Returns a key's text for BoringSSL, and counts its iterations in `limit`. The text of an encrypted key is
    /// encoded again, because BoringSSL treats long lines and control characters differently. It might otherwise find
    /// another key in the text than the one whose iterations were counted.
    private static func text(
        _ block: PEMFile.Block,
        passphrase: String?,
        limit: inout KeyDerivationLimit
    ) throws(CredentialError) -> String {
        if block.isEncrypted, passphrase == nil { throw .passphraseMissing }
        guard block.label == Self.encryptedLabel else {
            // BoringSSL knows a block by the bytes of its label, and looks for a further one after a label that it does
            // not know.
            let isKnown = Self.plainLabels.contains { $0.utf8.elementsEqual(block.label.utf8) }
            guard isKnown else { throw .unsupportedPrivateKey }
            return block.text
        }
        guard let der = block.der, let rounds = try? KeyDerivation.rounds(key: der[...]) else {
            throw .unsupportedPrivateKey
        }
        try limit.add(rounds)
        return PEMDocument(type: Self.encryptedLabel, derBytes: der).pemString
    }

    /// Parses a key.
    ///
    /// The passphrase is required, as swift-nio-ssl prompts on the terminal without it, and traps on bytes above 127.
    /// - Throws: `failure` if the key cannot be parsed, or an error for an invalid passphrase.
    static func key(
        pem: String,
        passphrase: String,
        failure: CredentialError
    ) throws(CredentialError) -> NIOSSLPrivateKey {
        guard passphrase.utf8.allSatisfy({ $0 > 0 && $0 < 128 }) else { throw .unsupportedPassphrase }
        guard passphrase.utf8.count <= Self.maximumPassphraseLength else { throw .wrongPassphrase }
        let bytes = Array(passphrase.utf8)
        do {
            return try NIOSSLPrivateKey(bytes: Array(pem.utf8), format: .pem) { $0(bytes) }
        } catch {
            throw failure
        }
    }

    fileprivate static func key(rsa der: [UInt8]) throws -> Certificate.PrivateKey {
        try Certificate.PrivateKey(pemDocument: PEMDocument(type: "RSA PRIVATE KEY", derBytes: der))
    }

    /// Returns the public key of a private key, by which the matching certificate is found.
    static func publicKey(of key: NIOSSLPrivateKey) throws(CredentialError) -> Certificate.PublicKey {
        guard let bytes = try? key.derBytes else { throw .unsupportedPrivateKey }
        for type in ["RSA PRIVATE KEY", "EC PRIVATE KEY", "PRIVATE KEY"] {
            let document = PEMDocument(type: type, derBytes: bytes)
            if let key = try? Certificate.PrivateKey(pemDocument: document) { return key.publicKey }
        }
        throw .unsupportedPrivateKey
    }
}

extension PEMFile.Block {
    /// The decoded contents of the block, or `nil` if they are not base64.
    fileprivate var der: [UInt8]? {
        let lines = self.text.split(separator: "\n").dropFirst().dropLast()
        return Data(base64Encoded: lines.joined(), options: .ignoreUnknownCharacters).map { Array($0) }
    }
}

/// A private key in PKCS#8 (RFC 5958), which is the form in PKCS#12 and encrypted PEM files.
struct PKCS8Key {
    let der: [UInt8]

    /// Converts a key to PKCS#8.
    /// - Throws: ``CredentialError/unsupportedPrivateKey`` for a key that is neither RSA nor EC.
    init(_ key: NIOSSLPrivateKey) throws(CredentialError) {
        guard let bytes = try? key.derBytes, let der = Self.der(bytes) else { throw .unsupportedPrivateKey }
        self.der = der
    }

    /// Converts a key from the form that BoringSSL writes: PKCS#1 for RSA, and SEC 1 for EC. Returns `nil` for others.
    private static func der(_ bytes: [UInt8]) -> [UInt8]? {
        if let key = try? P256.Signing.PrivateKey(derRepresentation: bytes) { return Array(key.derRepresentation) }
        if let key = try? P384.Signing.PrivateKey(derRepresentation: bytes) { return Array(key.derRepresentation) }
        if let key = try? P521.Signing.PrivateKey(derRepresentation: bytes) { return Array(key.derRepresentation) }
        guard (try? PrivateKeyReader.key(rsa: bytes)) != nil else { return nil }
        return try? Self.wrapped(rsa: bytes)
    }

    private static func wrapped(rsa bytes: [UInt8]) throws -> [UInt8] {
        var coder = DER.Serializer()
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(0)
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.serialize(ASN1ObjectIdentifier.rsaEncryption)
                try coder.serialize(ASN1Null())
            }
            try coder.serialize(ASN1OctetString(contentBytes: bytes[...]))
        }
        return coder.serializedBytes
    }
}

extension ASN1ObjectIdentifier {
    fileprivate static let rsaEncryption: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 1]
}
