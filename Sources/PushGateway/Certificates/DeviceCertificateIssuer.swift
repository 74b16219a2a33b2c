import Foundation
import PushSupport
import PushTypes
import SwiftASN1
import X509

/// Issues the certificates of devices.
struct DeviceCertificateIssuer: Sendable {
    /// The lifetime of a device certificate: ten years, because a device ends by its deletion.
    static let lifetime: TimeInterval = 3650 * 86_400

    /// The message of an error of the code `invalid_csr`.
    static let signingRequestRule = "the signing request must be PKCS#10 in PEM, signed by its own key"

    let authority: CertificateAuthority
    let deviceAuthorityPEM: String
    /// The authority of the gateway's own certificate.
    let authorityPEM: String

    /// Issues a certificate, in PEM, for the key of `signingRequest`, with the device id as common name.
    func certificate(signingRequest: String, device: UUID, now: Timestamp) throws -> (pem: String, serial: String) {
        guard let publicKey = CertificateAuthority.publicKey(ofRequest: signingRequest) else {
            throw RequestError(.invalid, code: "invalid_csr", message: Self.signingRequestRule, path: "csr")
        }
        let certificate = try self.authority.issue(
            to: DistinguishedName { CommonName(device.uuidString) },
            publicKey: publicKey,
            lifetime: Self.lifetime,
            extensions: try CertificateAuthority.extensions(for: .clientAuth),
            now: now.date
        )
        return (PEMText.file(try certificate.serializeAsPEM().pemString), Self.serial(of: certificate))
    }

    /// Returns the serial number in lower-case hexadecimal.
    static func serial(of certificate: Certificate) -> String {
        Hexadecimal.encode(Array(certificate.serialNumber.bytes))
    }
}
