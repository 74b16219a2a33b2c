import Crypto
import NIOSSL
import PushSupport
package import PushTypes
import SwiftASN1
import X509

/// The contents of a credential's files, for display, even if the files cannot be used as a credential.
package struct CredentialContents: Sendable {
    package enum Format: String, Sendable {
        case signingKey = "signing key (.p8)"
        case archive = "PKCS#12 archive"
        case pem = "PEM"
        case der = "certificate in DER"
    }

    /// A certificate that the files contain.
    package struct CertificateEntry: Hashable, Sendable {
        package var commonName: String
        package var issuer: String
        /// The UID attribute of the subject, or `nil` if there is none.
        package var defaultTopic: Topic?
        package var topics: [CertificateTopic]
        /// The environments that the certificate names, or `nil` if it names none, like an authority's certificate.
        package var environments: Set<PushEnvironment>?
        package var validFrom, expires: Timestamp
        /// The algorithm of the certificate's key, such as `RSA 2048`.
        package var algorithm: String
        package var fingerprint: String
        /// A Boolean value that indicates whether the files contain the private key of the certificate.
        package var hasKey: Bool
    }

    package let format: Format
    /// The identifier of a signing key, taken from the name of its file, or `nil` if there is none.
    package let keyID: String?
    package let certificates: [CertificateEntry]
    package let keys: [String]
    /// The number of private keys in the files that belong to none of the certificates.
    package let unmatchedKeys: Int
}

extension CredentialFile {
    /// Reads the contents of the files for display, even if the files cannot be used as a credential.
    /// - Throws: ``CredentialError`` for files that cannot be read or decrypted.
    package func contents() throws(CredentialError) -> CredentialContents {
        let bytes = try Self.read(self.path)
        let keyText: String? =
            if let keyFile { String(decoding: try Self.read(keyFile), as: UTF8.self) } else { nil }
        let text = PEMFile(String(decoding: bytes, as: UTF8.self))
        guard text.blocks.isEmpty else { return try self.contents(of: text, PEMFile(keyText ?? "")) }
        guard bytes.first == 0x30 else { throw .unknownFormat }
        if let certificate = try? NIOSSLCertificate(bytes: bytes, format: .der) {
            let keys = try PrivateKeyReader.keys(PEMFile(keyText ?? "").privateKeys, passphrase: self.passphrase)
            return try CredentialContents(.der, [certificate], keys)
        }
        let archive = try PKCS12Archive(bytes, passphrase: self.passphrase ?? "")
        return try CredentialContents(.archive, archive.certificates, archive.keys)
    }

    private func contents(of text: PEMFile, _ more: PEMFile) throws(CredentialError) -> CredentialContents {
        var certificates: [NIOSSLCertificate] = []
        for block in text.certificates + more.certificates {
            let certificate = try? NIOSSLCertificate(bytes: Array(block.text.utf8), format: .pem)
            guard let certificate else { throw .badCertificate }
            certificates.append(certificate)
        }
        let keys = try PrivateKeyReader.keys(text.privateKeys + more.privateKeys, passphrase: self.passphrase)
        let isSigningKey = certificates.isEmpty && text.blocks.count == 1 && text.blocks.allSatisfy(self.isSigningKey)
        let format: CredentialContents.Format = isSigningKey ? .signingKey : .pem
        return try CredentialContents(format, certificates, keys, keyID: isSigningKey ? self.keyIDOfName : nil)
    }
}

extension CredentialContents {
    fileprivate init(
        _ format: Format,
        _ certificates: [NIOSSLCertificate],
        _ keys: [NIOSSLPrivateKey],
        keyID: String? = nil
    ) throws(CredentialError) {
        var publicKeys: [Certificate.PublicKey] = []
        for key in keys { publicKeys.append(try PrivateKeyReader.publicKey(of: key)) }
        var entries: [CertificateEntry] = []
        var matched: Set<Certificate.PublicKey> = []
        for source in certificates {
            guard let der = try? source.toDERBytes(), let certificate = try? Certificate(derEncoded: der)
            else { throw .badCertificate }
            let hasKey = publicKeys.contains(certificate.publicKey)
            if hasKey { matched.insert(certificate.publicKey) }
            entries.append(CertificateEntry(certificate, der, hasKey: hasKey))
        }
        (self.format, self.keyID, self.certificates) = (format, keyID, entries)
        self.keys = publicKeys.map(\.algorithm)
        self.unmatchedKeys = publicKeys.count { !matched.contains($0) }
    }
}

extension CredentialContents.CertificateEntry {
    fileprivate init(_ certificate: Certificate, _ der: [UInt8], hasKey: Bool) {
        let details = CertificateDetails(certificate)
        self.commonName = details.commonName ?? ""
        self.issuer = "\(certificate.issuer)"
        self.defaultTopic = details.userID.flatMap { Topic($0) }
        self.topics = details.topics ?? self.defaultTopic.map { [CertificateTopic(topic: $0, kinds: [])] } ?? []
        self.environments = details.namesEnvironments ? details.environments : nil
        self.validFrom = Timestamp(certificate.notValidBefore)
        self.expires = Timestamp(certificate.notValidAfter)
        self.algorithm = certificate.publicKey.algorithm
        self.fingerprint = Hexadecimal.encode(SHA256.hash(data: der))
        self.hasKey = hasKey
    }
}

extension Certificate.PublicKey {
    /// The name of the key's algorithm with its size, such as `EC P-256`.
    fileprivate var algorithm: String {
        switch "\(self)" {
        case "P256.PublicKey": "EC P-256"
        case "P384.PublicKey": "EC P-384"
        case "P521.PublicKey": "EC P-521"
        case let text where text.hasPrefix("RSA"): "RSA \(text.dropFirst(3).prefix(while: \.isNumber))"
        case let text: text
        }
    }
}
