import Crypto
import Foundation
import NIOSSL
import PushSupport
import PushTypes
import SwiftASN1
import X509

/// A certificate authority of the gateway, which signs its server certificate or those of devices or providers.
struct CertificateAuthority: Sendable {
    /// The lifetime of the authority's certificate: ten years, because each client must be configured to trust it.
    static let lifetime: TimeInterval = 3650 * 86_400

    let certificate: Certificate
    private let key: Certificate.PrivateKey

    var pem: String { get throws { PEMText.file(try self.certificate.serializeAsPEM().pemString) } }

    /// Loads the certificate and the key from `name.pem` and `name.key` in the data directory, or creates these files.
    /// - Throws: ``GatewayError`` for a damaged file.
    init(name: String, commonName: String, in directory: borrowing DataDirectory, now: Date) throws {
        let keyFile = "\(name).key"
        let keyPEM = try directory.loadPEM(keyFile) { P256.Signing.PrivateKey().pemRepresentation }
        let key = try directory.parse(keyFile, "a P-256 private key") {
            try P256.Signing.PrivateKey(pemRepresentation: keyPEM)
        }
        self.key = Certificate.PrivateKey(key)
        let (certificateFile, signingKey) = ("\(name).pem", self.key)
        let pem = try directory.loadPEM(certificateFile) {
            try Self.selfSigned(commonName: commonName, key: signingKey, now: now).serializeAsPEM().pemString
        }
        self.certificate = try directory.parse(certificateFile, "a certificate") { try Certificate(pemEncoded: pem) }
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
        try Self.sign(publicKey, subject, by: self.certificate.subject, self.key, lifetime, extensions, now)
    }

    /// Returns whether `certificate` was signed by this authority and is valid at `now`.
    func vouches(for certificate: Certificate, now: Date) -> Bool {
        certificate.issuer == self.certificate.subject
            && certificate.notValidBefore <= now && now <= certificate.notValidAfter
            && self.certificate.publicKey.isValidSignature(certificate.signature, for: certificate)
    }

    /// Returns the public key of a signing request, or `nil` if it is not PKCS#10 in PEM, or not signed by its own key.
    static func publicKey(ofRequest pem: String) -> Certificate.PublicKey? {
        guard let request = try? CertificateSigningRequest(pemEncoded: pem),
            request.publicKey.isValidSignature(request.signature, for: request)
        else { return nil }
        return request.publicKey
    }

    /// Returns the extensions of a certificate for `usage`, which cannot sign other certificates.
    static func extensions(for usage: ExtendedKeyUsage.Usage) throws -> Certificate.Extensions {
        try Certificate.Extensions {
            Critical(BasicConstraints.notCertificateAuthority)
            Critical(KeyUsage(digitalSignature: true))
            try ExtendedKeyUsage([usage])
        }
    }

    private static func selfSigned(commonName: String, key: Certificate.PrivateKey, now: Date) throws -> Certificate {
        let name = try DistinguishedName { CommonName(commonName) }
        let extensions = try Certificate.Extensions {
            Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
            Critical(KeyUsage(keyCertSign: true, cRLSign: true))
        }
        return try Self.sign(key.publicKey, name, by: name, key, Self.lifetime, extensions, now)
    }

    private static func sign(
        _ publicKey: Certificate.PublicKey,
        _ subject: DistinguishedName,
        by issuer: DistinguishedName,
        _ key: Certificate.PrivateKey,
        _ lifetime: TimeInterval,
        _ extensions: Certificate.Extensions,
        _ now: Date
    ) throws -> Certificate {
        try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: publicKey,
            notValidBefore: now.addingTimeInterval(-86_400),
            notValidAfter: now.addingTimeInterval(lifetime),
            issuer: issuer,
            subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: extensions,
            issuerPrivateKey: key
        )
    }
}

extension Timestamp {
    var date: Date { Date(timeIntervalSince1970: Double(self.seconds)) }

    /// Creates the time of a date, rounded down to whole seconds.
    init(_ date: Date) { self.init(seconds: Int64(date.timeIntervalSince1970.rounded(.down))) }
}

/// The gateway's authorities and server certificate, which are created in the data directory at the first start.
struct Authorities: Sendable {
    /// The base name of the files of ``gateway``.
    static let gatewayName = "authority"

    /// The authority that signs the gateway's server certificate. Providers and devices must trust it.
    let gateway: CertificateAuthority
    let devices: CertificateAuthority
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
    var trustRoots: [NIOSSLCertificate] { get throws { try NIOSSLCertificate.fromPEMBytes(Array(self.pem.utf8)) } }
}

struct DeviceCertificateIssuer: Sendable {
    /// The lifetime of a device certificate: ten years, because a device lasts until it is deleted.
    static let lifetime: TimeInterval = 3650 * 86_400

    static let signingRequestRule = "the signing request must be PKCS#10 in PEM, signed by its own key"

    let authority: CertificateAuthority
    let deviceAuthorityPEM: String
    /// The certificate, in PEM, of the authority that signs the gateway's server certificate.
    let authorityPEM: String

    /// Issues a certificate, in PEM, for the key of `signingRequest`, with the device id as common name.
    /// - Returns: The certificate, and its serial number in lower-case hexadecimal.
    /// - Throws: ``RequestError`` for a signing request that is damaged or not signed by its own key.
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

    /// Returns a certificate's serial number in lower-case hexadecimal, including any leading zero bytes.
    static func serial(of certificate: Certificate) -> String {
        Hexadecimal.encode(Array(certificate.serialNumber.bytes))
    }
}
