import NIOSSL
import SwiftASN1
import X509

/// Reads private keys, which may be encrypted.
enum PrivateKeyReader {
    /// The longest passphrase that BoringSSL accepts, in bytes.
    static let maximumPassphraseLength = 1023

    /// Reads a key in PKCS#8, PKCS#1 or SEC 1, which may be encrypted.
    static func key(_ block: PEMFile.Block, passphrase: String?) throws(CredentialError) -> NIOSSLPrivateKey {
        if block.isEncrypted {
            guard let passphrase else { throw .passphraseMissing }
            return try Self.key(pem: block.text, passphrase: passphrase, failure: .wrongPassphrase)
        }
        return try Self.key(pem: block.text, passphrase: "", failure: .unsupportedPrivateKey)
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
