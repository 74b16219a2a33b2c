import Crypto
import Foundation
import PushSupport
import PushTesting
import PushTypes
import PushWire
import SwiftASN1
import Testing
import X509

@testable import PushGateway

/// The proof in *Connect*, without connections.
@Suite(.timeLimit(.patience)) struct DeviceAuthenticatorTests {
    @Test func aDeviceWithoutAValidCertificateUsesUpNoMemory() async throws {
        try await withTemporaryDirectory { directory in
            try await withCore(ManualTime()) { core, _ in
                let folder = try DataDirectory("\(directory)/authorities")
                let now = core.time.now
                let authority = try CertificateAuthority(name: "own", commonName: "Test", in: folder, now: now.date)
                let authenticator = DeviceAuthenticator(authority: authority, devices: core.devices)
                let (valid, revoked, deleted) = (
                    try TestProof(by: authority, now: now), try TestProof(by: authority, now: now),
                    try TestProof(by: authority, now: now)
                )
                for proof in [valid, revoked, deleted] {
                    try await core.devices.activate(ActivatedDevice(id: proof.device, activatedAt: now))
                }
                #expect(try await core.devices.revoke(revoked.device, now: now))
                #expect(try await core.devices.delete(deleted.device, now: now))
                for number in 1...100 {
                    let (second, third) = (try revoked.connect(number, at: now), try deleted.connect(number, at: now))
                    #expect(throws: DeviceAuthenticator.Failure.revoked) {
                        try authenticator.device(second, tlsCertificate: nil, now: now)
                    }
                    #expect(throws: DeviceAuthenticator.Failure.unknownDevice) {
                        try authenticator.device(third, tlsCertificate: nil, now: now)
                    }
                }
                #expect(authenticator.nonceCount == 0)
                let connect = try valid.connect(1, at: now)
                #expect(try authenticator.device(connect, tlsCertificate: nil, now: now) == valid.device)
                #expect(throws: DeviceAuthenticator.Failure.badNonce) {
                    try authenticator.device(connect, tlsCertificate: nil, now: now)
                }
                #expect(authenticator.nonceCount == 1)
            }
        }
    }
}

/// The key and the certificate of a device.
private struct TestProof {
    let device: UUID
    private let key = P256.Signing.PrivateKey()
    private let certificate: [UInt8]

    init(by authority: CertificateAuthority, now: Timestamp) throws {
        let device = UUID()
        self.device = device
        let certificate = try authority.issue(
            to: DistinguishedName { CommonName(device.uuidString) },
            publicKey: Certificate.PublicKey(self.key.publicKey),
            lifetime: 86_400,
            extensions: try CertificateAuthority.extensions(for: .clientAuth),
            now: now.date
        )
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        self.certificate = serializer.serializedBytes
    }

    /// Returns a *Connect* whose nonce has this number.
    func connect(_ number: Int, at now: Timestamp) throws -> DeviceLinkConnectRequest {
        let nonce = DeviceLinkNonce(time: now, random: UInt64(number)).bytes
        let signature = try self.key.signature(for: nonce).derRepresentation
        return DeviceLinkConnectRequest(
            certificate: self.certificate,
            nonce: nonce,
            signature: DeviceLinkSignature.ecdsaP256SHA256 + Array(signature)
        )
    }
}
