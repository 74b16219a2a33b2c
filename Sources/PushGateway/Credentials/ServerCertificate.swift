import Crypto
import Foundation
import NIOCore
import NIOSSL
import PushProtocol
import SwiftASN1
import X509

/// What the gateway's TLS doors show: a certificate signed by its own authority, renewed at start when it is due.
struct ServerCertificate {
    /// 397 days: the longest that common clients accept.
    static let lifetime: TimeInterval = 397 * 86_400
    /// Renewed at start when less than this is left.
    static let renewal: TimeInterval = 30 * 86_400
    private static let file = "server.pem"
    private static let keyFile = "server.key"

    let certificate: Certificate
    let privateKeyPEM: String

    init(
        authority: CertificateAuthority,
        names: [String],
        in directory: borrowing DataDirectory,
        now: Date
    ) throws {
        let key = try Self.key(in: directory)
        self.privateKeyPEM = key.pemRepresentation
        let wanted = Self.alternativeNames(names)
        if let pem = try? String(contentsOfFile: directory.file(Self.file), encoding: .utf8),
            let certificate = try? Certificate(pemEncoded: pem),
            certificate.publicKey == Certificate.PublicKey(key.publicKey),
            authority.vouches(for: certificate, now: now.addingTimeInterval(Self.renewal)),
            try certificate.extensions.subjectAlternativeNames == wanted
        {
            self.certificate = certificate
            return
        }
        self.certificate = try authority.issue(
            to: DistinguishedName { CommonName(names.first ?? "localhost") },
            publicKey: Certificate.PublicKey(key.publicKey),
            lifetime: Self.lifetime,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                wanted
            },
            now: now
        )
        try directory.save(Self.file, Data(self.certificate.serializeAsPEM().pemString.utf8))
    }

    private static func key(in directory: borrowing DataDirectory) throws -> P256.Signing.PrivateKey {
        let pem = try directory.load(Self.keyFile) { Data(P256.Signing.PrivateKey().pemRepresentation.utf8) }
        do {
            return try P256.Signing.PrivateKey(pemRepresentation: String(decoding: pem, as: UTF8.self))
        } catch {
            throw GatewayError.badFile(path: directory.file(Self.keyFile), why: "it holds no P-256 private key in PEM")
        }
    }

    /// The names, some of which may be addresses, and always the loopback addresses.
    private static func alternativeNames(_ names: [String]) -> SubjectAlternativeNames {
        let loopback: [GeneralName] = ["127.0.0.1", "::1"].compactMap(Self.address)
        let others = names.map { Self.address($0) ?? .dnsName($0) }.filter { !loopback.contains($0) }
        return SubjectAlternativeNames(others + loopback)
    }

    /// `nil` if `text` is a name.
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
    /// TLS 1.2 or newer, showing this certificate.
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
