import Crypto
import Foundation
package import NIOSSL
import PushSupport
package import PushTypes
import SwiftASN1
import X509

/// A self-signed certificate of an old provider, with its topic as UID.
package struct PushCertificate: Sendable {
    /// The certificate in PEM.
    package let pem: String
    /// The private key in PEM.
    package let key: String
    /// The certificate in DER.
    package let der: [UInt8]

    /// - Parameter environments: The environments that it names; empty for none.
    package init(topic: String = Vectors.bundleID, environments: Set<PushEnvironment> = []) throws {
        let key = P256.Signing.PrivateKey()
        let name = DistinguishedName([
            RelativeDistinguishedName(.init(type: .pushUserID, value: .init(utf8String: topic))),
            RelativeDistinguishedName(
                .init(type: .commonName, value: .init(utf8String: "Apple Push Services: \(topic)"))
            ),
        ])
        var extensions = Certificate.Extensions()
        let null: ArraySlice<UInt8> = [0x05, 0x00]
        if environments.contains(.sandbox) {
            try extensions.append(.init(oid: .pushSandbox, critical: false, value: null))
        }
        if environments.contains(.production) {
            try extensions.append(.init(oid: .pushProduction, critical: false, value: null))
        }
        let certificate = try Certificate(selfSignedBy: key, subject: name, extensions: extensions)
        let document = try certificate.serializeAsPEM()
        (self.pem, self.der) = (PEMText.file(document.pemString), document.derBytes)
        self.key = PEMText.file(key.pemRepresentation)
    }

    /// The SHA-256 of the certificate, in hexadecimal.
    package var fingerprint: String { Hexadecimal.encode(SHA256.hash(data: self.der)) }

    /// The configuration of a client with the certificate.
    /// - Parameter authority: The certificates that it trusts, in PEM.
    package func client(trusting authority: String) throws -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authority.utf8)))
        tls.certificateChain = try NIOSSLCertificate.fromPEMBytes(Array(self.pem.utf8)).map { .certificate($0) }
        tls.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: Array(self.key.utf8), format: .pem))
        return tls
    }
}
