import Crypto
import CryptoExtras
import Foundation
import NIOSSL
import PushGateway
import PushSupport
import PushTesting
import PushTypes
import PushWire
import SwiftASN1
import Testing
import X509

/// An independent client of the device link: raw packets, RSA or P-256, proof in the packet or in the handshake.
@Suite(.timeLimit(.patience)) struct DeviceLinkListenerTests {
    @Test func anRSADeviceConnectsAndMintsAToken() async throws {
        try await self.withGateway { gateway in
            let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
            let certificate = try await gateway.activate(Certificate.PrivateKey(key))
            let nonce = DeviceLinkNonce(time: SystemTime().now, random: 1).bytes
            let signature = try key.signature(for: Insecure.SHA1.hash(data: nonce), padding: .insecurePKCS1v1_5)
            let connect = DeviceLinkConnectRequest(
                certificate: try certificate.der,
                nonce: nonce,
                signature: DeviceLinkSignature.rsaSHA1 + Array(signature.rawRepresentation)
            )
            let connection = try await RawConnection.open(port: gateway.addresses.main.deviceLink, tls: gateway.tls)
            connection.write(connect.packet)
            let response = try #require(
                try await connection.readPackets(1).first.flatMap { DeviceLinkConnectResponse($0) }
            )
            #expect(response.status == .ok)
            #expect(response.baseToken != nil)
            let hash = TopicHash(try #require(Topic(Vectors.bundleID)))
            connection.write(DeviceLinkTokenRequest(baseToken: response.baseToken, topic: hash).packet)
            let minted = try await connection.readPackets(1).first.flatMap { DeviceLinkTokenResponse($0) }
            #expect(minted?.status == 0)
            #expect(minted?.topic == hash)
            #expect(minted.map { $0.token.count > TopicHash.length } == true)

            let replayed = try await RawConnection.open(port: gateway.addresses.main.deviceLink, tls: gateway.tls)
            replayed.write(connect.packet)
            let rejection = try await replayed.readPackets(1).first.flatMap { DeviceLinkConnectResponse($0) }
            #expect(rejection?.status == .rejected, "the nonce was seen before")
            await connection.close()
        }
    }

    @Test func aCertificateInTheHandshakeIsProofEnough() async throws {
        try await self.withGateway { gateway in
            let key = P256.Signing.PrivateKey()
            let certificate = try await gateway.activate(Certificate.PrivateKey(key))
            var tls = try gateway.tls
            tls.certificateChain = [.certificate(try NIOSSLCertificate(bytes: try certificate.der, format: .der))]
            tls.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem))
            let connection = try await RawConnection.open(port: gateway.addresses.main.deviceLink, tls: tls)
            connection.write(DeviceLinkConnectRequest().packet)
            let response = try await connection.readPackets(1).first.flatMap { DeviceLinkConnectResponse($0) }
            #expect(response?.status == .ok)
            connection.write(DeviceLinkPacket(command: 99, fields: []))
            connection.write(DeviceLinkPacket(command: .keepAlive))
            let ack = try await connection.readPackets(1).first
            #expect(ack?.command == DeviceLinkCommand.keepAliveAck.rawValue, "the unknown command was ignored")
            await connection.close()
        }
    }

    @Test func anotherDevicesSignatureProvesNothing() async throws {
        try await self.withGateway { gateway in
            let certificate = try await gateway.activate(Certificate.PrivateKey(P256.Signing.PrivateKey()))
            let nonce = DeviceLinkNonce(time: SystemTime().now, random: 1).bytes
            let signature = try P256.Signing.PrivateKey().signature(for: nonce).derRepresentation
            let connection = try await RawConnection.open(port: gateway.addresses.main.deviceLink, tls: gateway.tls)
            connection.write(
                DeviceLinkConnectRequest(
                    certificate: try certificate.der,
                    nonce: nonce,
                    signature: DeviceLinkSignature.ecdsaP256SHA256 + Array(signature)
                ).packet
            )
            let response = try await connection.readPackets(1).first.flatMap { DeviceLinkConnectResponse($0) }
            #expect(response?.status == .rejected)
        }
    }

    @Test func aSelfSignedCertificateIsRejectedInTheHandshake() async throws {
        try await self.withGateway { gateway in
            let key = P256.Signing.PrivateKey()
            let name = try DistinguishedName { CommonName(UUID().uuidString) }
            let certificate = try Certificate(
                version: .v3,
                serialNumber: Certificate.SerialNumber(),
                publicKey: Certificate.PublicKey(key.publicKey),
                notValidBefore: .now.addingTimeInterval(-60),
                notValidAfter: .now.addingTimeInterval(3600),
                issuer: name,
                subject: name,
                extensions: Certificate.Extensions(),
                issuerPrivateKey: Certificate.PrivateKey(key)
            )
            var tls = try gateway.tls
            tls.certificateChain = [.certificate(try NIOSSLCertificate(bytes: try certificate.der, format: .der))]
            tls.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem))
            let connection = try await RawConnection.open(port: gateway.addresses.main.deviceLink, tls: tls)
            connection.write(DeviceLinkConnectRequest().packet)
            #expect(await connection.readToEnd().isEmpty)
        }
    }

    private func withGateway(_ body: @escaping @Sendable (RunningGateway) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            try await PushTesting.withGateway(in: directory) { gateway in
                try await gateway.registerVectors()
                try await body(gateway)
            }
        }
    }
}

extension RunningGateway {
    /// A device certificate for this key, from the admin API.
    fileprivate func activate(_ key: Certificate.PrivateKey) async throws -> Certificate {
        let request = try CertificateSigningRequest(
            version: .v1,
            subject: DistinguishedName { CommonName("any name") },
            privateKey: key,
            attributes: .init()
        )
        let response = try await self.admin.post(
            "/v1/devices",
            ["csr": .string(try request.serializeAsPEM().pemString)]
        )
        return try Certificate(pemEncoded: try #require(response.json["certificate"].stringValue))
    }
}

extension Certificate {
    fileprivate var der: [UInt8] {
        get throws {
            var serializer = DER.Serializer()
            try serializer.serialize(self)
            return serializer.serializedBytes
        }
    }
}
