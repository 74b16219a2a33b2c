import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// The keys and certificates of a `.p12` (RFC 7292), which may contain any number of both. BoringSSL decrypts them, but
/// its only interface in swift-nio-ssl traps unless the archive contains exactly one key and its certificate.
/// Therefore, the outer structure is parsed here. The keys are decrypted one by one. The certificates are decrypted as
/// part of a second archive, which also contains a new pair of a key and a certificate.
struct PKCS12Archive {
    let keys: [NIOSSLPrivateKey]
    let certificates: [NIOSSLCertificate]

    /// Decrypts an archive. The empty passphrase also decrypts an archive that was created without a passphrase.
    /// - Throws: ``CredentialError`` for an archive that cannot be decrypted.
    init(_ bytes: [UInt8], passphrase: String) throws(CredentialError) {
        let file: PKCS12File
        do {
            file = try PKCS12File(bytes)
        } catch {
            throw .badArchive
        }
        try Self.checkLimits(of: file)
        let password = try file.password(passphrase)
        var keys: [NIOSSLPrivateKey] = []
        for key in file.keys {
            let document = PEMDocument(type: key.label, derBytes: Array(key.der))
            let failure = file.mac == nil ? CredentialError.wrongPassphrase : .unsupportedArchive
            keys.append(try PrivateKeyReader.key(pem: document.pemString, passphrase: passphrase, failure: failure))
        }
        self.keys = keys
        self.certificates = try Self.certificates(file, passphrase: passphrase, password: password)
    }

    /// Checks, before anything is decrypted, that the decryption of an archive will not take too long.
    /// - Throws: ``CredentialError`` if it would.
    private static func checkLimits(of file: PKCS12File) throws(CredentialError) {
        guard file.keys.count <= PrivateKeyReader.maximumKeys else { throw .tooManyKeys }
        var limit = KeyDerivationLimit()
        for key in file.keys where key.label == PrivateKeyReader.encryptedLabel {
            guard let rounds = try? KeyDerivation.rounds(key: key.der) else { throw .unsupportedArchive }
            try limit.add(rounds)
        }
        for rounds in file.encryptedRounds {
            guard let rounds else { throw .unsupportedArchive }
            try limit.add(rounds)
        }
    }

    private static func certificates(
        _ file: PKCS12File,
        passphrase: String,
        password: [UInt8]
    ) throws(CredentialError) -> [NIOSSLCertificate] {
        do {
            let archive = try file.withoutKeys(adding: Companion(), password: password)
            let bundle = try NIOSSLPKCS12Bundle(buffer: archive, passphrase: Array(passphrase.utf8))
            // The first certificate is the companion's.
            return Array(bundle.certificateChain.dropFirst())
        } catch {
            throw file.mac == nil ? .wrongPassphrase : .unsupportedArchive
        }
    }
}

extension PKCS12Archive {
    /// The key and the certificate that are added to an archive of certificates, so that swift-nio-ssl finds exactly
    /// one pair.
    struct Companion {
        let key: [UInt8]
        let certificate: [UInt8]

        init() throws {
            let key = P256.Signing.PrivateKey()
            let name = try DistinguishedName { CommonName("companion") }
            let certificate = try Certificate(
                version: .v3,
                serialNumber: Certificate.SerialNumber(),
                publicKey: Certificate.PrivateKey(key).publicKey,
                notValidBefore: Date(timeIntervalSince1970: 0),
                notValidAfter: Date(timeIntervalSince1970: 1),
                issuer: name,
                subject: name,
                signatureAlgorithm: .ecdsaWithSHA256,
                extensions: Certificate.Extensions(),
                issuerPrivateKey: Certificate.PrivateKey(key)
            )
            self.key = Array(key.derRepresentation)
            self.certificate = try certificate.serializeAsPEM().derBytes
        }
    }
}
