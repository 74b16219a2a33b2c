import Crypto
import CryptoExtras
import Foundation
import NIOCore
import NIOSSL
import PushSupport
import SwiftASN1
import X509

/// The certificate of the gateway's TLS listeners, signed by the gateway's own authority and renewed at start.
struct ServerCertificate {
    /// The lifetime of the certificate: 397 days, the longest that common clients accept.
    static let lifetime: TimeInterval = 397 * 86_400
    /// The remaining validity below which the certificate is renewed at start: 30 days.
    static let renewal: TimeInterval = 30 * 86_400
    let certificate: Certificate
    let privateKeyPEM: String

    init(
        authority: CertificateAuthority,
        names: [String],
        keyType: ServerKeyType = .p256,
        in directory: borrowing DataDirectory,
        now: Date
    ) throws {
        let (publicKey, privateKeyPEM) = try Self.key(keyType, in: directory)
        self.privateKeyPEM = privateKeyPEM
        let wanted = Self.alternativeNames(names)
        if let pem = try? String(contentsOfFile: directory.file(keyType.certificateFile), encoding: .utf8),
            pem.hasSuffix("\n"),
            let certificate = try? Certificate(pemEncoded: pem),
            certificate.publicKey == publicKey,
            authority.vouches(for: certificate, now: now.addingTimeInterval(Self.renewal)),
            try certificate.extensions.subjectAlternativeNames == wanted
        {
            self.certificate = certificate
            return
        }
        self.certificate = try Self.issue(
            authority,
            to: try DistinguishedName { CommonName(names.first ?? "localhost") },
            publicKey: publicKey,
            names: wanted,
            lifetime: Self.lifetime,
            now: now
        )
        let pem = PEMText.file(try self.certificate.serializeAsPEM().pemString)
        try directory.save(keyType.certificateFile, Data(pem.utf8))
    }

    private init(certificate: Certificate, privateKeyPEM: String) {
        (self.certificate, self.privateKeyPEM) = (certificate, privateKeyPEM)
    }

    /// Issues a certificate with the same key and names that expired yesterday, for ``FaultAction/expiredCertificate``.
    func expired(authority: CertificateAuthority, now: Date) throws -> Self {
        let expired = try Self.issue(
            authority,
            to: self.certificate.subject,
            publicKey: self.certificate.publicKey,
            names: try self.certificate.extensions.subjectAlternativeNames ?? SubjectAlternativeNames(),
            lifetime: 86_400,
            now: now.addingTimeInterval(-2 * 86_400)
        )
        return Self(certificate: expired, privateKeyPEM: self.privateKeyPEM)
    }

    private static func issue(
        _ authority: CertificateAuthority,
        to subject: DistinguishedName,
        publicKey: Certificate.PublicKey,
        names: SubjectAlternativeNames,
        lifetime: TimeInterval,
        now: Date
    ) throws -> Certificate {
        try authority.issue(
            to: subject,
            publicKey: publicKey,
            lifetime: lifetime,
            extensions: Certificate.Extensions {
                try CertificateAuthority.extensions(for: .serverAuth)
                names
            },
            now: now
        )
    }

    private static func key(
        _ type: ServerKeyType,
        in directory: borrowing DataDirectory
    ) throws -> (Certificate.PublicKey, pem: String) {
        let pem = try directory.loadPEM(type.keyFile) { try type.newKeyPEM() }
        let key = try directory.parse(type.keyFile, "a private key of type \(type.title)") {
            try type.publicKey(ofPEM: pem)
        }
        return (key, pem)
    }

    /// Creates the subject alternative names from host names and IP addresses, and adds the loopback addresses.
    private static func alternativeNames(_ names: [String]) -> SubjectAlternativeNames {
        let loopback: [GeneralName] = ["127.0.0.1", "::1"].compactMap(Self.address)
        let others = names.map { Self.address($0) ?? .dnsName($0) }.filter { !loopback.contains($0) }
        return SubjectAlternativeNames(others + loopback)
    }

    /// Parses an IP address. Returns `nil` if `text` is a host name.
    private static func address(_ text: String) -> GeneralName? {
        switch try? SocketAddress(ipAddress: text, port: 0) {
        case .v4(let address):
            let bytes = withUnsafeBytes(of: address.address.sin_addr, Array.init)
            return .ipAddress(ASN1OctetString(contentBytes: bytes[...]))
        case .v6(let address):
            let bytes = withUnsafeBytes(of: address.address.sin6_addr, Array.init)
            return .ipAddress(ASN1OctetString(contentBytes: bytes[...]))
        default: return nil
        }
    }
}

extension ServerCertificate {
    /// Creates a TLS configuration with this certificate, a minimum version of TLS 1.2, and `protocols` for ALPN.
    func tlsConfiguration(protocols: [String]) throws -> TLSConfiguration {
        let chain = try NIOSSLCertificate.fromPEMBytes(Array(self.certificate.serializeAsPEM().pemString.utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(self.privateKeyPEM.utf8), format: .pem)
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = protocols
        return tls
    }
}

/// The file names and key operations of each kind of key. Each kind has files of its own, so that a gateway whose
/// configuration returns to an earlier kind finds the earlier certificate.
extension ServerKeyType {
    fileprivate var certificateFile: String { self == .p256 ? "server.pem" : "server-rsa.pem" }

    fileprivate var keyFile: String { self == .p256 ? "server.key" : "server-rsa.key" }

    fileprivate var title: String { self == .p256 ? "P-256" : "RSA" }

    fileprivate func newKeyPEM() throws -> String {
        switch self {
        case .p256: P256.Signing.PrivateKey().pemRepresentation
        case .rsa: try _RSA.Signing.PrivateKey(keySize: .bits2048).pkcs8PEMRepresentation
        }
    }

    /// Returns the public key of the private key in `pem`. Throws if `pem` is not a private key of this kind.
    fileprivate func publicKey(ofPEM pem: String) throws -> Certificate.PublicKey {
        switch self {
        case .p256: Certificate.PublicKey(try P256.Signing.PrivateKey(pemRepresentation: pem).publicKey)
        case .rsa: Certificate.PublicKey(try _RSA.Signing.PrivateKey(pemRepresentation: pem).publicKey)
        }
    }
}
