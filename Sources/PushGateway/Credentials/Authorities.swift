import Foundation
import NIOSSL

/// The gateway's authorities and its own certificate, from the data directory; made on first start.
struct Authorities: Sendable {
    static let gatewayName = "authority"

    /// Signs the gateway's own certificate: what providers and devices trust.
    let gateway: CertificateAuthority
    /// Signs the certificates of devices.
    let devices: CertificateAuthority
    /// Signs the certificates of providers.
    let providers: CertificateAuthority
    let server: ServerCertificate

    init(
        names: [String],
        serverKey: ServerKeyType = .p256,
        in directory: borrowing DataDirectory,
        now: Date
    ) throws {
        self.gateway = try CertificateAuthority(
            name: Self.gatewayName,
            commonName: "Martlet Gateway Authority",
            in: directory,
            now: now
        )
        self.devices = try CertificateAuthority(
            name: "device-authority",
            commonName: "Martlet Device Authority",
            in: directory,
            now: now
        )
        self.providers = try CertificateAuthority(
            name: "provider-authority",
            commonName: "Martlet Provider Authority",
            in: directory,
            now: now
        )
        self.server = try ServerCertificate(
            authority: self.gateway,
            names: names,
            keyType: serverKey,
            in: directory,
            now: now
        )
    }
}

extension CertificateAuthority {
    /// As what TLS verifies against.
    var trustRoots: [NIOSSLCertificate] {
        get throws { try NIOSSLCertificate.fromPEMBytes(Array(self.pem.utf8)) }
    }
}
