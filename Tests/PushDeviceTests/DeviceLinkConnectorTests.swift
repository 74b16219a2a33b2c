import PushDevice
import PushTesting
import PushTypes
import PushWire
import SwiftASN1
import Testing
import X509

/// *Connect* as the push service gets it (device link reference 4).
@Suite(.timeLimit(.patience)) struct DeviceLinkConnectorTests {
    @Test func connectHasTheCertificateAndASignedNonce() async throws {
        let time = ManualTime()
        try await ScriptedPushService.with { service in
            try await service.withDevice(time: time) { _ in
                let connection = try await service.connection()
                let connect = DeviceLinkConnectRequest(try await connection.packet(.connect))
                #expect(connect.baseToken == nil)
                #expect(connect.state == .active)
                #expect(connect.understandsExtensions)
                let certificate = try Certificate(derEncoded: try #require(connect.certificate))
                #expect(certificate == (try Certificate(pemEncoded: service.certificate.pem)))
                let nonce = try #require(connect.nonce)
                #expect(DeviceLinkNonce(bytes: nonce)?.time == time.now)
                let signature = try #require(connect.signature)
                #expect(Array(signature.prefix(2)) == DeviceLinkSignature.ecdsaP256SHA256)
                let isValid = certificate.publicKey.isValidSignature(
                    signature.dropFirst(2),
                    for: nonce,
                    signatureAlgorithm: .ecdsaWithSHA256
                )
                #expect(isValid)
            }
        }
    }

    @Test func everyConnectionHasANonceOfItsOwn() async throws {
        try await ScriptedPushService.with { service in
            try await service.withDevice(time: ManualTime()) { _ in
                var nonces: Set<[UInt8]> = []
                for _ in 0..<3 {
                    let connection = try await service.connection()
                    let connect = DeviceLinkConnectRequest(try await connection.packet(.connect))
                    nonces.insert(try #require(connect.nonce))
                    await connection.close()
                }
                #expect(nonces.count == 3)
            }
        }
    }

    @Test func aDeviceThatIsNotInUseSaysSo() async throws {
        try await ScriptedPushService.with { service in
            try await service.withDevice(configure: { $0.isActive = false }) { _ in
                let connection = try await service.connection()
                #expect(DeviceLinkConnectRequest(try await connection.packet(.connect)).state == .inactive)
            }
        }
    }
}
