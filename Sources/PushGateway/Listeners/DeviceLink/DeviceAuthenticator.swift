import Foundation
import PushTypes
import PushWire
import SwiftASN1
import Synchronization
import X509

/// Authenticates devices by a certificate of the device authority. The TLS handshake or a signed nonce proves that the
/// device has the key (device link reference 4).
final class DeviceAuthenticator: Sendable {
    /// The reason why a device is rejected. The raw value is logged.
    enum Failure: String, Error {
        case noCertificate = "no certificate"
        case badCertificate = "certificate not of this gateway, or not valid now"
        case badProof = "signature missing or wrong"
        case badNonce = "nonce stale or seen before"
        case revoked = "certificate revoked or replaced"
        case unknownDevice = "device unknown or deleted"
    }

    private let authority: CertificateAuthority
    private let devices: DeviceRegistry
    private let nonces = Mutex(NonceCache())

    init(authority: CertificateAuthority, devices: DeviceRegistry) {
        (self.authority, self.devices) = (authority, devices)
    }

    var nonceCount: Int { self.nonces.withLock { $0.count } }

    /// Returns the id of a device with a valid certificate. A proof in *Connect* takes precedence over that of TLS.
    /// - Parameter tlsCertificate: The certificate of the handshake in DER, whose key TLS has verified, or `nil` if the
    ///   client sent none.
    /// - Throws: The reason for which the device is rejected.
    func device(_ connect: DeviceLinkConnectRequest, tlsCertificate: [UInt8]?, now: Timestamp) throws(Failure) -> UUID {
        guard let tlsCertificate else { return try self.device(connect, now: now) }
        if connect.signature != nil, let device = try? self.device(connect, now: now) { return device }
        return try self.device(of: try self.certificate(tlsCertificate, now: now))
    }

    private func device(_ connect: DeviceLinkConnectRequest, now: Timestamp) throws(Failure) -> UUID {
        guard let der = connect.certificate else { throw .noCertificate }
        let certificate = try self.certificate(der, now: now)
        guard let nonceBytes = connect.nonce, let signature = connect.signature,
            Self.isValid(signature, for: nonceBytes, by: certificate.publicKey)
        else { throw .badProof }
        // Only a nonce that a device of this gateway has signed is remembered, and it takes that device's place alone.
        let device = try self.device(of: certificate)
        guard let nonce = DeviceLinkNonce(bytes: nonceBytes),
            self.nonces.withLock({ $0.accept(nonce, of: device, now: now) })
        else { throw .badNonce }
        return device
    }

    private func certificate(_ der: [UInt8], now: Timestamp) throws(Failure) -> Certificate {
        guard let certificate = try? Certificate(derEncoded: der),
            self.authority.vouches(for: certificate, now: now.date)
        else { throw .badCertificate }
        return certificate
    }

    /// Returns the device id, which is the subject's common name. Only the device's newest certificate is valid.
    private func device(of certificate: Certificate) throws(Failure) -> UUID {
        let names = certificate.subject.lazy.flatMap { $0 }
            .filter { $0.type == .RDNAttributeType.commonName }
            .compactMap { UUID(uuidString: $0.value.description) }
        guard let id = names.first, let device = self.devices.device(id) else { throw .unknownDevice }
        let serial = DeviceCertificateIssuer.serial(of: certificate)
        guard device.revokedAt == nil, device.certificateSerial.map({ $0 == serial }) ?? true else { throw .revoked }
        return id
    }

    /// Returns whether `key` signed the nonce, with RSA and SHA-1 or with ECDSA, P-256 and SHA-256.
    private static func isValid(_ signature: [UInt8], for nonce: [UInt8], by key: Certificate.PublicKey) -> Bool {
        let algorithm: Certificate.SignatureAlgorithm
        switch Array(signature.prefix(2)) {
        case DeviceLinkSignature.rsaSHA1: algorithm = .sha1WithRSAEncryption
        case DeviceLinkSignature.ecdsaP256SHA256: algorithm = .ecdsaWithSHA256
        default: return false
        }
        return key.isValidSignature(signature.dropFirst(2), for: nonce, signatureAlgorithm: algorithm)
    }
}
