import Foundation
import NIOCore
import NIOSSL
import PushDevice
import PushGateway
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

/// Clients of the legacy interface against a gateway: one of 2009 that knows only tokens of 32 bytes, and the sender's.
@Suite(.timeLimit(.patience)) struct LegacyClientTests {
    @Test(arguments: [true, false]) func aClientOf2009WorksWhole(isSettingOfTheApp: Bool) async throws {
        try await withTemporaryDirectory { directory in
            let configure: (inout GatewayConfiguration) -> Void = { $0.tokenLength = isSettingOfTheApp ? 0 : 32 }
            try await withGateway(in: directory, configure: configure) { gateway in
                try await gateway.registerVectors()
                if isSettingOfTheApp {
                    let answer = try await gateway.admin.call(
                        "PATCH",
                        "/v1/apps/\(Vectors.bundleID)",
                        Data(#"{"tokenLength":32}"#.utf8)
                    )
                    #expect(answer.json["tokenLength"] == 32)
                }
                let tls = try await gateway.providerTLS()
                let identity = try await gateway.activate()
                let token = try await withDeviceConnected(
                    to: gateway.addresses.main.deviceLink,
                    identity,
                    time: SystemTime()
                ) { device in
                    let token = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
                    let bytes = try #require(Hexadecimal.decode(token))
                    #expect(bytes.count == 32)
                    let connection = try await RawConnection.open(port: gateway.addresses.main.binary, tls: tls)
                    for command in 0...2 as ClosedRange<UInt8> { connection.write(Self.frame(command, bytes)) }
                    var payloads: [String] = []
                    for await notification in device.notifications {
                        payloads.append(String(decoding: notification.payload, as: UTF8.self))
                        if payloads.count == 3 { break }
                    }
                    #expect(payloads.sorted() == ["[0]", "[1]", "[2]"])
                    await connection.close()
                    return token
                }
                let path = "/v1/devices/\(identity.deviceID)/topics/\(Vectors.bundleID)?environment=sandbox"
                #expect(try await gateway.admin.delete(path).status == 204)
                #expect(try await gateway.pushStatus(token, time: SystemTime()) == 410)
                try await gateway.expectFeedback(token, tls)
            }
        }
    }

    /// The quiet period never ends here: the error packet shows that the first two are accepted.
    @Test func theSendersLegacyClientsWorkWhole() async throws {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: directory) { gateway in
                try await gateway.registerVectors()
                let (certificate, authority) = (try await gateway.providerCertificate(), gateway.gateway.authorityPEM)
                let ports = gateway.addresses.main
                var configuration = BinaryConfiguration()
                configuration.quietPeriod = .seconds(86_400)
                configuration.waitTimeout = .patience
                let sender = try BinarySender(
                    to: PushServiceEndpoint(host: "localhost", port: ports.binary, additionalTrustRoots: authority)
                        .patient,
                    certificate: certificate,
                    configuration: configuration,
                    logger: silentLogger
                )
                let identity = try await gateway.activate()
                let token = try await withDeviceConnected(to: ports.deviceLink, identity, time: SystemTime()) {
                    device in
                    let token = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
                    let pushes = try [token, token, Vectors.tokenA].enumerated().map { number, token in
                        try Self.push("[\(number)]", to: token)
                    }
                    let outcomes = await sender.send(pushes)
                    let rejection = Rejection(status: 400, reasonText: "BadDeviceToken")
                    let accepted = pushes.map { Outcome.accepted(.init(id: $0.notification.id)) }
                    #expect(outcomes == accepted.prefix(2) + [.rejected(rejection)])
                    var payloads: [String] = []
                    for await notification in device.notifications {
                        payloads.append(String(decoding: notification.payload, as: UTF8.self))
                        if payloads.count == 2 { break }
                    }
                    #expect(payloads.sorted() == ["[0]", "[1]"])
                    return token
                }
                await sender.close()
                let path = "/v1/devices/\(identity.deviceID)/topics/\(Vectors.bundleID)?environment=sandbox"
                #expect(try await gateway.admin.delete(path).status == 204)
                #expect(try await gateway.pushStatus(token, time: SystemTime()) == 410)
                var client = try FeedbackClient(
                    to: PushServiceEndpoint(host: "localhost", port: ports.feedback, additionalTrustRoots: authority)
                        .patient,
                    certificate: certificate
                )
                client.idleTimeout = .patience
                var tuples: [FeedbackTuple] = []
                while tuples.isEmpty { for try await tuple in client.tuples() { tuples.append(tuple) } }
                #expect(tuples.map(\.token.hex) == [token])
            }
        }
    }

    @Test func onlyLengthsThatThereAreCanBeSet() async throws {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: directory) { gateway in
                let refused = try await gateway.admin.post(
                    "/v1/apps",
                    ["teamId": .string(Vectors.teamID), "bundleId": .string(Vectors.bundleID), "tokenLength": 20]
                )
                #expect(refused.status == 400)
                #expect(refused.field == "tokenLength")
                try await gateway.registerVectors()
                let path = "/v1/apps/\(Vectors.bundleID)"
                let empty = try await gateway.admin.call("PATCH", path, Data("{}".utf8))
                #expect(empty.status == 400)
                for (body, length) in [(#"{"tokenLength":32}"#, 32), (#"{"broadcast":true}"#, 32)] {
                    let answer = try await gateway.admin.call("PATCH", path, Data(body.utf8))
                    #expect(answer.json["tokenLength"] == .integer(Int64(length)))
                }
                let reset = try await gateway.admin.call("PATCH", path, Data(#"{"tokenLength":null}"#.utf8))
                #expect(reset.status == 200)
                #expect(reset.json["tokenLength"] == .null)
            }
        }
    }

    private static func push(_ payload: String, to token: String) throws -> Push {
        let topic = try #require(Topic(Vectors.bundleID))
        let notification = PushNotification(
            id: UUID().uuidString.lowercased(),
            topic: topic,
            payload: ByteBuffer(string: payload)
        )
        return Push(notification, to: try #require(DeviceToken(hex: token)))
    }

    /// The command's number as payload.
    private static func frame(_ command: UInt8, _ token: [UInt8]) -> [UInt8] {
        let payload = Array("[\(command)]".utf8)
        switch command {
        case 0: return [0, 0, 32] + token + [0, 3] + payload
        case 1: return [1, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0, 32] + token + [0, 3] + payload
        default: return [2, 0, 0, 0, 41, 1, 0, 32] + token + [2, 0, 3] + payload
        }
    }
}

extension RunningGateway {
    /// The certificate of a provider for the vectors' app, and its key.
    private func issueCertificate() async throws -> (certificate: String, key: String) {
        let answer = try await self.admin.post(
            "/v1/certificates",
            ["topic": .string(Vectors.bundleID), "keyType": "p256"]
        )
        let certificate = try #require(answer.json["certificate"].stringValue)
        let key = try #require(answer.json["privateKey"].stringValue)
        #expect(certificate.hasSuffix("-----END CERTIFICATE-----\n"))
        #expect(key.hasSuffix("\n"))
        return (certificate, key)
    }

    fileprivate func providerCertificate() async throws -> ClientCertificate {
        let (certificate, key) = try await self.issueCertificate()
        return try ClientCertificate(pem: certificate, key: key)
    }

    /// The TLS configuration of a provider with a certificate for the vectors' app.
    fileprivate func providerTLS() async throws -> TLSConfiguration {
        let (certificate, key) = try await self.issueCertificate()
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(self.gateway.authorityPEM.utf8)))
        tls.certificateChain = try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)).map { .certificate($0) }
        tls.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem))
        return tls
    }

    /// Reads the feedback service until it tells of the token, as a fixed record of 38 bytes.
    fileprivate func expectFeedback(_ token: String, _ tls: TLSConfiguration) async throws {
        while true {
            let connection = try await RawConnection.open(port: self.addresses.main.feedback, tls: tls)
            let list = try await connection.readToOrderlyEnd()
            guard !list.isEmpty else {
                try Task.checkCancellation()
                continue
            }
            #expect(list.count == 38)
            #expect(Hexadecimal.encode(list.dropFirst(6)) == token)
            return
        }
    }
}
