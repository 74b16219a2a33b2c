import Crypto
import CryptoExtras
import Foundation
import NIOSSL
import PushSupport
import PushTypes
import SwiftASN1
import X509

/// Signs the certificates of providers, and recognizes them when they are shown (reference 2.2).
struct ProviderAuthority: Sendable {
    /// What a certificate is to be for.
    struct Order: Sendable {
        /// The subject's UID: what a push means that names no topic.
        var topic: Topic
        /// For the extension …6.3.6; empty for a certificate without it, which is for ``topic`` alone.
        var topics: [CertificateTopic] = []
        var environments: Set<PushEnvironment>
        var key: KeySource
    }

    /// Whose key it certifies.
    enum KeySource: Sendable {
        /// RSA of 2048 bits, made here: what every client takes.
        case newRSA
        case newP256
        /// PKCS#10 in PEM; the key stays with whoever made it.
        case signingRequest(String)
    }

    /// What whoever ordered it gets.
    struct Issued: Sendable {
        var certificate: ProviderCertificate
        var certificatePEM: String
        /// PKCS#8; `nil` if the key was not made here. Not kept.
        var privateKeyPEM: String?
    }

    enum Failure: Error {
        /// Not PKCS#10 in PEM, or not signed by its own key.
        case badSigningRequest
    }

    /// A year, as Apple's (reference 2.2).
    static let lifetime: TimeInterval = 365 * 86_400

    let authority: CertificateAuthority

    func issue(_ order: Order, now: Timestamp) throws -> Issued {
        let (publicKey, privateKeyPEM) = try Self.key(order.key)
        let date = Date(timeIntervalSince1970: Double(now.seconds))
        let certificate = try self.authority.issue(
            to: Self.subject(order.topic),
            publicKey: publicKey,
            lifetime: Self.lifetime,
            extensions: try Self.extensions(order),
            now: date
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
            guard let request = try? CertificateSigningRequest(pemEncoded: pem),
                request.publicKey.isValidSignature(request.signature, for: request)
            else { throw Failure.badSigningRequest }
            return (request.publicKey, nil)
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
        var extensions = try Certificate.Extensions {
            Critical(BasicConstraints.notCertificateAuthority)
            Critical(KeyUsage(digitalSignature: true))
            try ExtendedKeyUsage([.clientAuth])
        }
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

// MARK: Recognizing

extension ProviderAuthority {
    /// Who shows this certificate, in DER, to the doors of `environment`.
    ///
    /// A refusal ends the connection with GOAWAY and this reason (reference 1.2, 1.9).
    func identity(
        of der: [UInt8],
        environment: PushEnvironment,
        directory: some TrustDirectory,
        now: Timestamp
    ) -> Result<CertificateIdentity, Reason> {
        let date = Date(timeIntervalSince1970: Double(now.seconds))
        guard let certificate = try? Certificate(derEncoded: der),
            self.authority.vouches(for: certificate, now: date),
            !directory.isRevoked(certificate: certificate.serialHex),
            let identity = CertificateIdentity(certificate)
        else { return .failure(.badCertificate) }
        return identity.environments.contains(environment) ? .success(identity) : .failure(.badCertificateEnvironment)
    }
}

extension CertificateIdentity {
    /// `nil` for a certificate without a topic.
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
    /// Without leading zero bytes, which are a matter of encoding.
    fileprivate var serialHex: String { Hexadecimal.encode(self.serialNumber.bytes.drop { $0 == 0 }) }
}

extension Timestamp {
    /// Whole seconds.
    fileprivate init(_ date: Date) {
        self.init(seconds: Int64(date.timeIntervalSince1970.rounded(.down)))
    }
}
