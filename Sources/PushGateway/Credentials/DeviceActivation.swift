import Foundation
import PushSupport
import PushTypes
import SwiftASN1
import X509

/// Gives a device its certificate.
struct DeviceActivation: Sendable {
    /// Ten years: a device is ended by deleting it, not by its certificate.
    static let lifetime: TimeInterval = 3650 * 86_400

    let authority: CertificateAuthority
    let deviceAuthorityPEM: String
    /// What the gateway's own certificate chains to.
    let authorityPEM: String

    /// A certificate, in PEM, for the key of `signingRequest`. The subject is ours: the device id as common name.
    func certificate(
        signingRequest: String,
        device: UUID,
        now: Timestamp
    ) throws -> (pem: String, serial: String) {
        guard let request = try? CertificateSigningRequest(pemEncoded: signingRequest),
            request.publicKey.isValidSignature(request.signature, for: request)
        else {
            throw RequestError(
                .invalid,
                code: "invalid_csr",
                message: "the signing request must be PKCS#10 in PEM, signed by its own key",
                path: "csr"
            )
        }
        let certificate = try self.authority.issue(
            to: DistinguishedName { CommonName(device.uuidString) },
            publicKey: request.publicKey,
            lifetime: Self.lifetime,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.clientAuth])
            },
            now: Date(timeIntervalSince1970: Double(now.seconds))
        )
        return (PEMText.file(try certificate.serializeAsPEM().pemString), Self.serial(of: certificate))
    }

    /// Lower-case hexadecimal.
    static func serial(of certificate: Certificate) -> String {
        Hexadecimal.encode(Array(certificate.serialNumber.bytes))
    }
}
