import Crypto
import Foundation
package import NIOSSL
import PushSupport
public import PushTypes
import SwiftASN1
import X509

/// A certificate with its private key: what makes the push service trust a connection (reference 2.2).
public struct ClientCertificate: Sendable {
    /// The subject's CN, such as `Apple Push Services: com.example.MyApp`; empty if it has none.
    public let commonName: String
    /// Attribute UID of the subject: the topic of a request that names none.
    public let defaultTopic: Topic?
    /// What the certificate may push to: its list of topics; without one, its default topic.
    public let topics: [CertificateTopic]
    /// Where it may connect to: both if the certificate does not say, as those made for tests and MDM.
    public let environments: Set<PushEnvironment>
    public let validFrom: Timestamp
    public let expires: Timestamp
    /// SHA-256 of the certificate, 64 hexadecimal digits.
    public let fingerprint: String

    /// The certificate and those that lead to its authority, in this order.
    package let certificateChain: [NIOSSLCertificateSource]
    package let privateKey: NIOSSLPrivateKeySource

    /// - Parameter pem: certificates and a key in any order, RSA or EC; other text between them is skipped.
    /// - Parameter key: the text of the key's file, if it is not part of `pem`.
    /// - Parameter passphrase: opens a key that is encrypted; ignored otherwise.
    public init(pem: String, key: String? = nil, passphrase: String? = nil) throws(CredentialError) {
        let text = PEMText(pem + "\n" + (key ?? ""))
        guard !text.blocks.isEmpty else { throw .unknownFormat }
        guard !text.certificates.isEmpty else { throw .noCertificate }
        var certificates: [NIOSSLCertificate] = []
        for block in text.certificates {
            let certificate = try? NIOSSLCertificate(bytes: Array(block.text.utf8), format: .pem)
            guard let certificate else { throw .badCertificate }
            certificates.append(certificate)
        }
        try self.init(certificates: certificates, keys: Self.keys(text, passphrase: passphrase))
    }

    /// - Parameter der: a certificate as the developer account's page gives it, `.cer`.
    /// - Parameter key: its key in PEM.
    public init(der: [UInt8], key: String, passphrase: String? = nil) throws(CredentialError) {
        guard !der.isEmpty, let certificate = try? NIOSSLCertificate(bytes: der, format: .der) else {
            throw .badCertificate
        }
        try self.init(certificates: [certificate], keys: Self.keys(PEMText(key), passphrase: passphrase))
    }

    /// - Parameter p12: an archive made by Keychain or `openssl pkcs12 -export`.
    /// - Parameter passphrase: `nil` means the same as an empty one.
    public init(p12: [UInt8], passphrase: String? = nil) throws(CredentialError) {
        let archive = try PKCS12Archive(p12, passphrase: passphrase ?? "")
        try self.init(certificates: archive.certificates, keys: archive.keys)
    }

    /// Takes the pair that belongs together; of several, the one that expires last.
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

    private static func keys(_ text: PEMText, passphrase: String?) throws(CredentialError) -> [NIOSSLPrivateKey] {
        var keys: [NIOSSLPrivateKey] = []
        for block in text.privateKeys { keys.append(try PrivateKeyReader.key(block, passphrase: passphrase)) }
        return keys
    }
}

extension ClientCertificate {
    /// Throws if the push service would refuse this certificate in `environment` at `now`.
    public func check(environment: PushEnvironment, now: Timestamp) throws(CredentialError) {
        guard self.environments.contains(environment) else { throw .wrongEnvironment(environment) }
        guard now >= self.validFrom else { throw .notYetValid(from: self.validFrom) }
        guard now <= self.expires else { throw .expired(since: self.expires) }
    }
}

/// A certificate as both libraries need it.
private struct ParsedCertificate {
    let certificate: Certificate
    let source: NIOSSLCertificate
    let der: [UInt8]

    /// `nil` if X.509 rules or key sizes are not kept.
    init?(_ source: NIOSSLCertificate) {
        guard let der = try? source.toDERBytes(), let certificate = try? Certificate(derEncoded: der) else {
            return nil
        }
        self.certificate = certificate
        self.source = source
        self.der = der
    }

    /// This one and, as far as `others` lead, its authorities.
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
    /// Whole seconds.
    fileprivate init(_ date: Date) {
        self.init(seconds: Int64(date.timeIntervalSince1970.rounded(.down)))
    }
}
