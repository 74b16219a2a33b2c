import Crypto
import Foundation
package import NIOSSL
import PushSupport
public import PushTypes
import SwiftASN1
import X509

/// A certificate with its private key, with which the provider authenticates its connections (APNs reference 2.2).
public struct ClientCertificate: Sendable {
    /// The CN attribute of the subject, such as `Apple Push Services: com.example.MyApp`. It is empty if there is none.
    public let commonName: String
    /// The UID attribute of the subject, the topic of requests without `apns-topic`, or `nil` if there is none.
    public let defaultTopic: Topic?
    /// The topics to which the certificate may push. They are those in its list or, without a list, its default topic,
    /// if it has one.
    public let topics: [CertificateTopic]
    /// The environments to which the certificate may connect. If it names none, like certificates for tests and MDM, it
    /// may connect to both.
    public let environments: Set<PushEnvironment>
    /// The time from which the certificate is valid.
    public let validFrom: Timestamp
    /// The time until which the certificate is valid.
    public let expires: Timestamp
    /// The SHA-256 of the certificate, in 64 hexadecimal digits.
    public let fingerprint: String

    /// The certificate, followed by its intermediate authorities.
    package let certificateChain: [NIOSSLCertificateSource]
    /// The private key in the form that swift-nio-ssl uses.
    package let privateKey: NIOSSLPrivateKeySource
    package var transport = PushTransport.http2

    /// Parses a certificate and its key in PEM.
    /// - Parameters:
    ///   - pem: The certificates and the key in any order, RSA or EC. Text between them is skipped.
    ///   - key: The text of the file with the key, or `nil` if `pem` contains the key.
    ///   - passphrase: The passphrase of an encrypted key, or `nil` if the key is not encrypted.
    /// - Throws: ``CredentialError`` if they cannot be used.
    public init(pem: String, key: String? = nil, passphrase: String? = nil) throws(CredentialError) {
        let text = PEMFile(pem + "\n" + (key ?? ""))
        guard !text.blocks.isEmpty else { throw .unknownFormat }
        guard !text.certificates.isEmpty else { throw .noCertificate }
        var certificates: [NIOSSLCertificate] = []
        for block in text.certificates {
            let certificate = try? NIOSSLCertificate(bytes: Array(block.text.utf8), format: .pem)
            guard let certificate else { throw .badCertificate }
            certificates.append(certificate)
        }
        try self.init(certificates: certificates, keys: PrivateKeyReader.keys(text.privateKeys, passphrase: passphrase))
    }

    /// Parses a certificate in DER and its key.
    /// - Parameters:
    ///   - der: The contents of a `.cer` file, as the developer account offers it.
    ///   - key: The private key in PEM.
    ///   - passphrase: The passphrase of an encrypted key, or `nil` if the key is not encrypted.
    /// - Throws: ``CredentialError`` if they cannot be used.
    public init(der: [UInt8], key: String, passphrase: String? = nil) throws(CredentialError) {
        guard !der.isEmpty, let certificate = try? NIOSSLCertificate(bytes: der, format: .der) else {
            throw .badCertificate
        }
        try self.init(
            certificates: [certificate],
            keys: PrivateKeyReader.keys(PEMFile(key).privateKeys, passphrase: passphrase)
        )
    }

    /// Parses a certificate and its key in a PKCS#12 archive.
    /// - Parameters:
    ///   - p12: The contents of a `.p12` file that Keychain or `openssl pkcs12 -export` has created.
    ///   - passphrase: The passphrase of the archive, or `nil` for the empty passphrase.
    /// - Throws: ``CredentialError`` if they cannot be used.
    public init(p12: [UInt8], passphrase: String? = nil) throws(CredentialError) {
        let archive = try PKCS12Archive(p12, passphrase: passphrase ?? "")
        try self.init(certificates: archive.certificates, keys: archive.keys)
    }

    /// Creates the certificate from a matching pair of a certificate and a key. If there are several pairs, the one
    /// that expires last is used.
    /// - Throws: ``CredentialError`` if there is no pair.
    private init(certificates: [NIOSSLCertificate], keys: [NIOSSLPrivateKey]) throws(CredentialError) {
        guard !certificates.isEmpty else { throw .noCertificate }
        guard !keys.isEmpty else { throw .noPrivateKey }
        let readable = certificates.compactMap(ParsedCertificate.init)
        var pairs: [(certificate: ParsedCertificate, key: NIOSSLPrivateKey)] = []
        for key in keys {
            let publicKey = try PrivateKeyReader.publicKey(of: key)
            pairs += readable.filter { $0.certificate.publicKey == publicKey }.map { ($0, key) }
        }
        let newest = pairs.max { $0.certificate.certificate.notValidAfter < $1.certificate.certificate.notValidAfter }
        guard let (leaf, key) = newest else {
            throw readable.count == certificates.count ? .keyDoesNotMatchCertificate : .badCertificate
        }
        self.init(leaf: leaf, others: readable, key: key)
    }

    private init(leaf: ParsedCertificate, others: [ParsedCertificate], key: NIOSSLPrivateKey) {
        let certificate = leaf.certificate
        let details = CertificateDetails(certificate)
        self.commonName = details.commonName ?? ""
        self.defaultTopic = details.userID.flatMap { Topic($0) }
        self.topics = details.topics ?? self.defaultTopic.map { [CertificateTopic(topic: $0, kinds: [])] } ?? []
        self.environments = details.environments
        self.validFrom = Timestamp(certificate.notValidBefore)
        self.expires = Timestamp(certificate.notValidAfter)
        self.fingerprint = Hexadecimal.encode(SHA256.hash(data: leaf.der))
        self.certificateChain = leaf.chain(through: others).map { .certificate($0.source) }
        self.privateKey = .privateKey(key)
    }
}

extension ClientCertificate {
    /// Checks that the push service would accept this certificate in `environment` at `now`.
    /// - Throws: ``CredentialError/wrongEnvironment(_:)``, ``CredentialError/notYetValid(from:)`` or
    ///   ``CredentialError/expired(since:)`` if it would not.
    public func check(environment: PushEnvironment, now: Timestamp) throws(CredentialError) {
        guard self.environments.contains(environment) else { throw .wrongEnvironment(environment) }
        guard now >= self.validFrom else { throw .notYetValid(from: self.validFrom) }
        guard now <= self.expires else { throw .expired(since: self.expires) }
    }
}

/// A certificate in the representations of swift-nio-ssl and swift-certificates.
private struct ParsedCertificate {
    let certificate: Certificate
    let source: NIOSSLCertificate
    let der: [UInt8]

    /// Parses a certificate. Returns `nil` if it violates X.509 or has an unsupported key.
    init?(_ source: NIOSSLCertificate) {
        guard let der = try? source.toDERBytes(), let certificate = try? Certificate(derEncoded: der) else {
            return nil
        }
        (self.certificate, self.source, self.der) = (certificate, source, der)
    }

    /// Returns this certificate, followed by the certificates of its authorities that are among `others`.
    func chain(through others: [ParsedCertificate]) -> [ParsedCertificate] {
        var (chain, rest) = ([self], others.filter { $0.certificate != self.certificate })
        while let last = chain.last?.certificate, last.issuer != last.subject,
            let index = rest.firstIndex(where: { $0.certificate.subject == last.issuer })
        {
            chain.append(rest.remove(at: index))
        }
        return chain
    }
}

extension Timestamp {
    init(_ date: Date) { self.init(seconds: Int64(date.timeIntervalSince1970.rounded(.down))) }
}

/// The export of a certificate with its key in several file formats.
extension ClientCertificate {
    /// Returns the certificate, its authorities and the key in PEM.
    /// - Parameter passphrase: The passphrase for the key (PKCS#8 with PBES2), or `nil` or `""` for no encryption.
    /// - Throws: ``CredentialError`` for a passphrase or a key that is not supported.
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
    /// - Parameter passphrase: The passphrase for the archive, which may be empty.
    /// - Throws: ``CredentialError`` for a passphrase or a key that is not supported.
    package func archive(passphrase: String) throws(CredentialError) -> [UInt8] {
        try Self.check(passphrase)
        let key = try self.pkcs8Key()
        let certificates = try self.certificatesInDER()
        let writer = PKCS12Writer(certificates: certificates, key: key, passphrase: passphrase)
        guard let archive = try? writer.archive() else { throw .unsupportedPrivateKey }
        return archive
    }

    /// Checks that a passphrase is ASCII text without NUL, because programs encode other characters in different ways.
    /// - Throws: ``CredentialError/unsupportedPassphrase`` if it is not.
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
