import Crypto
import CryptoExtras
import Foundation
import PushSupport
import PushTypes
import SwiftASN1
import X509

/// Issues the certificates of providers, and identifies providers by them (reference 2.2).
struct ProviderAuthority: Sendable {
    /// The topics, environments and key of a certificate to issue.
    struct Order: Sendable {
        var topic: Topic
        /// The topics of the extension …6.3.6. It is empty for a certificate without the extension, which is for
        /// ``topic`` alone.
        var topics: [CertificateTopic] = []
        var environments: Set<PushEnvironment>
        var key: KeySource
    }

    enum KeySource: Sendable {
        /// A new RSA key of 2,048 bits, which every client accepts.
        case newRSA
        case newP256
        /// The key of a PKCS#10 signing request in PEM.
        case signingRequest(String)
    }

    struct Issued: Sendable {
        var certificate: ProviderCertificate
        var certificatePEM: String
        /// The private key in PKCS#8 PEM, which the gateway does not keep, or `nil` for the key of a signing request.
        var privateKeyPEM: String?
    }

    enum Failure: Error {
        /// The failure for a signing request that is not PKCS#10 in PEM, or not signed by its own key.
        case badSigningRequest
    }

    /// The lifetime of a certificate: a year, as Apple's (reference 2.2).
    static let lifetime: TimeInterval = 365 * 86_400

    let authority: CertificateAuthority

    func issue(_ order: Order, now: Timestamp) throws -> Issued {
        let (publicKey, privateKeyPEM) = try Self.key(order.key)
        let certificate = try self.authority.issue(
            to: Self.subject(order.topic),
            publicKey: publicKey,
            lifetime: Self.lifetime,
            extensions: try Self.extensions(order),
            now: now.date
        )
        return Issued(
            certificate: ProviderCertificate(
                serial: certificate.serialHex,
                topic: order.topic,
                topics: order.topics.isEmpty ? [order.topic] : Set(order.topics.map(\.topic)),
                environments: order.environments,
                issuedAt: now,
                expiresAt: Timestamp(certificate.notValidAfter)
            ),
            certificatePEM: PEMText.file(try certificate.serializeAsPEM().pemString),
            privateKeyPEM: privateKeyPEM
        )
    }

    private static func key(_ source: KeySource) throws -> (Certificate.PublicKey, pem: String?) {
        switch source {
        case .newRSA:
            let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
            return (Certificate.PublicKey(key.publicKey), PEMText.file(key.pkcs8PEMRepresentation))
        case .newP256:
            let key = P256.Signing.PrivateKey()
            return (Certificate.PublicKey(key.publicKey), PEMText.file(key.pemRepresentation))
        case .signingRequest(let pem):
            guard let key = CertificateAuthority.publicKey(ofRequest: pem) else { throw Failure.badSigningRequest }
            return (key, nil)
        }
    }

    private static func subject(_ topic: Topic) throws -> DistinguishedName {
        DistinguishedName([
            RelativeDistinguishedName(.init(type: .pushUserID, value: .init(utf8String: topic.name))),
            RelativeDistinguishedName(
                .init(type: .commonName, value: .init(utf8String: "Apple Push Services: \(topic.name)"))
            ),
        ])
    }

    private static func extensions(_ order: Order) throws -> Certificate.Extensions {
        var extensions = try CertificateAuthority.extensions(for: .clientAuth)
        let null: ArraySlice<UInt8> = [0x05, 0x00]
        if order.environments.contains(.sandbox) {
            try extensions.append(.init(oid: .pushSandbox, critical: false, value: null))
        }
        if order.environments.contains(.production) {
            try extensions.append(.init(oid: .pushProduction, critical: false, value: null))
        }
        if !order.topics.isEmpty {
            let list = try CertificateTopic.derEncoded(order.topics)
            try extensions.append(.init(oid: .pushTopics, critical: false, value: list[...]))
        }
        return extensions
    }
}

// MARK: Identification

extension ProviderAuthority {
    /// Identifies a provider by the certificate, in DER, that it presented to a listener of `environment`.
    /// - Returns: The identity, or the reason for the GOAWAY that closes the connection (reference 1.2, 1.9).
    func identity(
        of der: [UInt8],
        environment: PushEnvironment,
        directory: some TrustDirectory,
        now: Timestamp
    ) -> Result<CertificateIdentity, Reason> {
        guard let certificate = try? Certificate(derEncoded: der),
            self.authority.vouches(for: certificate, now: now.date),
            !directory.isRevoked(certificate: certificate.serialHex),
            let identity = CertificateIdentity(certificate)
        else { return .failure(.badCertificate) }
        return identity.environments.contains(environment) ? .success(identity) : .failure(.badCertificateEnvironment)
    }
}

extension CertificateIdentity {
    /// Creates the identity from a certificate. Returns `nil` for a certificate without a topic.
    init?(_ certificate: Certificate) {
        let details = CertificateDetails(certificate)
        guard let topic = details.userID.flatMap({ Topic($0) }) else { return nil }
        self.init(
            serial: certificate.serialHex,
            environments: details.environments,
            defaultTopic: topic,
            topics: details.topics.map { Set($0.map(\.topic)) } ?? [topic],
            expiresAt: Timestamp(certificate.notValidAfter)
        )
    }
}

extension Certificate {
    fileprivate var serialHex: String { Hexadecimal.encode(self.serialNumber.bytes.drop { $0 == 0 }) }
}

/// The identity of a provider by its TLS certificate (reference 2.2).
struct CertificateIdentity: Hashable, Sendable {
    /// The serial number in lower-case hexadecimal.
    var serial: String
    /// The environments to which the provider may connect: OIDs …6.3.1 and …6.3.2.
    var environments: Set<PushEnvironment>
    var defaultTopic: Topic
    /// All topics that the provider may push to: those of OID …6.3.6, or without it the default topic alone.
    var topics: Set<Topic>
    /// The time at which the certificate expires, after which requests are rejected even on an open connection. By
    /// default it never expires.
    var expiresAt = Timestamp(milliseconds: .max)
}

/// Checks the client certificates of one environment.
struct CertificateCheck: Sendable {
    let environment: PushEnvironment
    /// The closure that returns the identity in a certificate in DER, or the reason for rejecting the certificate.
    let identify: @Sendable ([UInt8]) -> Result<CertificateIdentity, Reason>
    /// The closure that returns whether an identity that was valid when its connection began is still valid: neither
    /// revoked nor expired.
    var isStillValid: @Sendable (CertificateIdentity) -> Bool = { _ in true }

    /// Returns the identity of a client, or the reason for rejecting it, such as a certificate for the other
    /// environment.
    /// - Parameter certificate: The client's certificate in DER, or `nil` if it has none, which is rejected too.
    func identity(of certificate: [UInt8]?) -> Result<CertificateIdentity, Reason> {
        guard let certificate else { return .failure(.badCertificate) }
        return self.identify(certificate).flatMap { identity in
            identity.environments.contains(self.environment) ? .success(identity) : .failure(.badCertificateEnvironment)
        }
    }
}
