import Foundation
import NIOSSL

/// The gateway's certificate authorities and its own certificate, in the data directory. Created on first start.
struct Authorities: Sendable {
    /// The name of the gateway authority's files.
    static let gatewayName = "authority"

    /// The authority of the gateway's own certificate, which providers and devices trust.
    let gateway: CertificateAuthority
    /// The authority of device certificates.
    let devices: CertificateAuthority
    /// The authority of provider certificates.
    let providers: CertificateAuthority
    let server: ServerCertificate

    init(names: [String], serverKey: ServerKeyType = .p256, in directory: borrowing DataDirectory, now: Date) throws {
        func authority(_ file: String, _ name: String) throws -> CertificateAuthority {
            try CertificateAuthority(name: file, commonName: "Martlet \(name) Authority", in: directory, now: now)
        }
        self.gateway = try authority(Self.gatewayName, "Gateway")
        self.devices = try authority("device-authority", "Device")
        self.providers = try authority("provider-authority", "Provider")
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
    /// The certificate in the form that TLS verifies against.
    var trustRoots: [NIOSSLCertificate] {
        get throws { try NIOSSLCertificate.fromPEMBytes(Array(self.pem.utf8)) }
    }
}
