import Crypto
import Foundation
package import NIOSSL
import SwiftASN1
import X509

/// A certificate for `localhost` and 127.0.0.1, valid for a day, and the TLS configurations of both ends with it.
package struct SelfSignedCertificate: Sendable {
    /// One certificate for all tests that do not need two.
    package static let shared = Result { try SelfSignedCertificate() }

    /// The certificate in PEM.
    package let pem: String
    /// The private key in PEM.
    package let key: String

    package init() throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("localhost") }
        let extensions = try Certificate.Extensions {
            Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
            SubjectAlternativeNames([
                .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
            ])
        }
        let certificate = try Certificate(selfSignedBy: key, subject: name, extensions: extensions)
        self.pem = try certificate.serializeAsPEM().pemString
        self.key = key.pemRepresentation
    }

    /// The configuration of a client that trusts the certificate and has none.
    package var client: TLSConfiguration {
        get throws {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(self.pem.utf8)))
            return tls
        }
    }

    /// The configuration of a server with the certificate.
    package var server: TLSConfiguration {
        get throws {
            TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(self.pem.utf8)).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(self.key.utf8), format: .pem))
            )
        }
    }
}

extension Certificate {
    /// Makes a certificate that is valid since yesterday, until tomorrow.
    init(selfSignedBy key: P256.Signing.PrivateKey, subject: DistinguishedName, extensions: Extensions) throws {
        try self.init(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: Date.now.addingTimeInterval(-86_400),
            notValidAfter: Date.now.addingTimeInterval(86_400),
            issuer: subject,
            subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: extensions,
            issuerPrivateKey: Certificate.PrivateKey(key)
        )
    }
}
