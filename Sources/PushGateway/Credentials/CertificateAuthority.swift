import Crypto
import Foundation
import PushSupport
import SwiftASN1
import X509

/// One of the gateway's own authorities: signs its server certificate, or the certificates of devices.
struct CertificateAuthority: Sendable {
    /// Ten years: the authority is the gateway's identity and is trusted by hand.
    static let lifetime: TimeInterval = 3650 * 86_400

    let certificate: Certificate
    private let key: Certificate.PrivateKey

    var pem: String {
        get throws { PEMText.file(try self.certificate.serializeAsPEM().pemString) }
    }

    /// Loads `name.pem` and `name.key` from the data directory, or makes them.
    init(name: String, commonName: String, in directory: borrowing DataDirectory, now: Date) throws {
        let keyFile = "\(name).key"
        let keyPEM = try directory.loadPEM(keyFile) { P256.Signing.PrivateKey().pemRepresentation }
        let key: P256.Signing.PrivateKey
        do {
            key = try P256.Signing.PrivateKey(pemRepresentation: keyPEM)
        } catch {
            throw GatewayError.badFile(path: directory.file(keyFile), why: "it holds no P-256 private key in PEM")
        }
        self.key = Certificate.PrivateKey(key)
        let (certificateFile, signingKey) = ("\(name).pem", self.key)
        let pem = try directory.loadPEM(certificateFile) {
            try Self.selfSigned(commonName: commonName, key: signingKey, now: now).serializeAsPEM().pemString
        }
        do {
            self.certificate = try Certificate(pemEncoded: pem)
        } catch {
            throw GatewayError.badFile(path: directory.file(certificateFile), why: "it holds no certificate in PEM")
        }
        guard self.certificate.publicKey == self.key.publicKey else {
            throw GatewayError.badFile(path: directory.file(certificateFile), why: "it does not match \(keyFile)")
        }
    }

    /// Signs a certificate for `publicKey`, valid from a day ago for `lifetime` seconds.
    func issue(
        to subject: DistinguishedName,
        publicKey: Certificate.PublicKey,
        lifetime: TimeInterval,
        extensions: Certificate.Extensions,
        now: Date
    ) throws -> Certificate {
        try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: publicKey,
            notValidBefore: now.addingTimeInterval(-86_400),
            notValidAfter: now.addingTimeInterval(lifetime),
            issuer: self.certificate.subject,
            subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: extensions,
            issuerPrivateKey: self.key
        )
    }

    /// Whether this authority signed `certificate` and it is valid at `now`.
    func vouches(for certificate: Certificate, now: Date) -> Bool {
        certificate.issuer == self.certificate.subject
            && certificate.notValidBefore <= now && now <= certificate.notValidAfter
            && self.certificate.publicKey.isValidSignature(certificate.signature, for: certificate)
    }

    private static func selfSigned(
        commonName: String,
        key: Certificate.PrivateKey,
        now: Date
    ) throws -> Certificate {
        let name = try DistinguishedName { CommonName(commonName) }
        return try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: key.publicKey,
            notValidBefore: now.addingTimeInterval(-86_400),
            notValidAfter: now.addingTimeInterval(Self.lifetime),
            issuer: name,
            subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
            },
            issuerPrivateKey: key
        )
    }
}
