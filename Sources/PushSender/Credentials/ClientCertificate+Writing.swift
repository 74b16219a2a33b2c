import NIOSSL
import PushSupport
import SwiftASN1

/// The other file formats of a certificate with its key.
extension ClientCertificate {
    /// Returns the certificate, its authorities and the key in PEM.
    /// - Parameter passphrase: The passphrase of the key (PKCS#8 with PBES2); `nil` or empty leaves the key unencrypted.
    package func pem(passphrase: String?) throws(CredentialError) -> String {
        let key = try self.pkcs8Key()
        let document: PEMDocument
        if let passphrase, !passphrase.isEmpty {
            try Self.check(passphrase)
            guard let info = try? PBES2(key.der, passphrase: passphrase).keyInfo() else { throw .unsupportedPrivateKey }
            document = PEMDocument(type: "ENCRYPTED PRIVATE KEY", derBytes: info)
        } else {
            document = PEMDocument(type: "PRIVATE KEY", derBytes: key.der)
        }
        let certificates = try self.certificatesInDER().map { PEMDocument(type: "CERTIFICATE", derBytes: $0) }
        return (certificates + [document]).map { PEMText.file($0.pemString) }.joined()
    }

    /// Returns a PKCS#12 archive with the certificate, its authorities and the key.
    /// - Parameter passphrase: The passphrase of the archive, which may be empty.
    package func archive(passphrase: String) throws(CredentialError) -> [UInt8] {
        try Self.check(passphrase)
        let key = try self.pkcs8Key()
        let certificates = try self.certificatesInDER()
        let writer = PKCS12Writer(certificates: certificates, key: key, passphrase: passphrase)
        guard let archive = try? writer.archive() else { throw .unsupportedPrivateKey }
        return archive
    }

    /// Other programs encode further characters in different ways.
    private static func check(_ passphrase: String) throws(CredentialError) {
        guard passphrase.utf8.allSatisfy({ $0 > 0 && $0 < 128 }),
            passphrase.utf8.count <= PrivateKeyReader.maximumPassphraseLength
        else { throw .unsupportedPassphrase }
    }

    private func pkcs8Key() throws(CredentialError) -> PKCS8Key {
        guard case .privateKey(let key) = self.privateKey else { throw .unsupportedPrivateKey }
        return try PKCS8Key(key)
    }

    private func certificatesInDER() throws(CredentialError) -> [[UInt8]] {
        var certificates: [[UInt8]] = []
        for source in self.certificateChain {
            guard case .certificate(let certificate) = source, let der = try? certificate.toDERBytes()
            else { throw .badCertificate }
            certificates.append(der)
        }
        return certificates
    }
}
