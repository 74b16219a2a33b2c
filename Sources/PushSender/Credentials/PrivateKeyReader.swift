import Foundation
import NIOSSL
import SwiftASN1
import X509

/// Reads private keys, which may be encrypted.
enum PrivateKeyReader {
    /// The longest passphrase that BoringSSL accepts, in bytes.
    static let maximumPassphraseLength = 1023
    /// The maximum number of keys of a file.
    static let maximumKeys = 16
    /// The label of a key that is encrypted in PKCS#8.
    static let encryptedLabel = "ENCRYPTED PRIVATE KEY"
    /// The labels of the other keys: PKCS#8, PKCS#1 and SEC 1. Those of the older encryption (RFC 1421) have them too.
    private static let plainLabels = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"]

    /// Reads keys in PKCS#8, PKCS#1 or SEC 1, which may be encrypted. None is decrypted before all have been found to take
    /// few enough iterations.
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

    /// Returns a key's text for BoringSSL, and adds the iterations that it would take.
    ///
    /// That of an encrypted key is written anew, because BoringSSL reads long lines and control characters in another way:
    /// it would find another key in the text than the one whose iterations were read.
    private static func text(
        _ block: PEMFile.Block,
        passphrase: String?,
        limit: inout KeyDerivationLimit
    ) throws(CredentialError) -> String {
        if block.isEncrypted, passphrase == nil { throw .passphraseMissing }
        guard block.label == Self.encryptedLabel else {
            // BoringSSL knows a block by the bytes of its label, and looks for a further one after a label that it does not know.
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

    /// Reads a key, or throws `failure`.
    ///
    /// swift-nio-ssl would ask on the terminal if it got no passphrase, and it traps on bytes above 127.
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

    /// Reads an RSA key of PKCS#1 in DER.
    static func key(rsa der: [UInt8]) throws -> Certificate.PrivateKey {
        try Certificate.PrivateKey(pemDocument: PEMDocument(type: "RSA PRIVATE KEY", derBytes: der))
    }

    /// Returns the public key, by which a certificate is matched.
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
    /// The decoded content; `nil` if it is not base64.
    fileprivate var der: [UInt8]? {
        let lines = self.text.split(separator: "\n").dropFirst().dropLast()
        return Data(base64Encoded: lines.joined(), options: .ignoreUnknownCharacters).map { Array($0) }
    }
}
