import Foundation
import PushTypes
import PushWire
import SwiftASN1
import Synchronization
import X509

/// Checks who a device is: a certificate of the device authority, proved by the TLS handshake or by a signed nonce.
final class DeviceAuthenticator: Sendable {
    enum Refusal: String, Error {
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
        self.authority = authority
        self.devices = devices
    }

    /// Proofs remembered.
    var nonceCount: Int { self.nonces.withLock { $0.count } }

    /// One of the two proofs must be good; the one in *Connect* counts where both are there.
    /// - Parameter tlsCertificate: DER, as presented in the handshake, where its key was proved.
    func device(_ connect: DeviceLinkConnect, tlsCertificate: [UInt8]?, now: Timestamp) throws(Refusal) -> UUID {
        guard let tlsCertificate else { return try self.device(connect, now: now) }
        if connect.signature != nil, let device = try? self.device(connect, now: now) { return device }
        return try self.device(of: try self.certificate(tlsCertificate, now: now))
    }

    private func device(_ connect: DeviceLinkConnect, now: Timestamp) throws(Refusal) -> UUID {
        guard let der = connect.certificate else { throw .noCertificate }
        let certificate = try self.certificate(der, now: now)
        guard let nonceBytes = connect.nonce, let signature = connect.signature,
            Self.isValid(signature, for: nonceBytes, by: certificate.publicKey)
        else { throw .badProof }
        // Only a proven nonce is remembered, so that nobody can use up another device's.
        guard let nonce = DeviceLinkNonce(bytes: nonceBytes),
            self.nonces.withLock({ $0.accept(nonce, now: now) })
        else { throw .badNonce }
        return try self.device(of: certificate)
    }

    private func certificate(_ der: [UInt8], now: Timestamp) throws(Refusal) -> Certificate {
        let date = Date(timeIntervalSince1970: Double(now.seconds))
        guard let certificate = try? Certificate(derEncoded: der), self.authority.vouches(for: certificate, now: date)
        else { throw .badCertificate }
        return certificate
    }

    /// The device id is the subject's common name. Of its certificates, the newest that was not revoked is good.
    private func device(of certificate: Certificate) throws(Refusal) -> UUID {
        let names = certificate.subject.lazy.flatMap { $0 }
            .filter { $0.type == .RDNAttributeType.commonName }
            .compactMap { UUID(uuidString: $0.value.description) }
        guard let id = names.first, let device = self.devices.device(id) else { throw .unknownDevice }
        let serial = DeviceActivation.serial(of: certificate)
        guard device.revokedAt == nil, device.certificateSerial.map({ $0 == serial }) ?? true else { throw .revoked }
        return id
    }

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
