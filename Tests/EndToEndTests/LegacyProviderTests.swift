import Foundation
import NIOCore
import ProviderAPI
import ProviderModel
import PushBridges
import PushDevice
import PushGateway
import PushHTTP
import PushProvider
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

/// Two providers of the time of the legacy protocols, each with everything that its own text describes.
@Suite(.timeLimit(.patience)) struct LegacyProviderTests {
    /// Certificates are checked by the system's clock, so the manual one starts there.
    private let time = ManualTime(SystemTime().now)
    private static let formKey = "k7Qz1yT9sW3eXa0P"

    /// A web application of 2010: its `.p12` becomes PEM, devices register with its form, messages go to all devices in batches
    /// over one connection of the binary protocol and reach none twice, and the feedback job deactivates devices.
    @Test func aWebApplicationOf2010RunsWhole() async throws {
        let time = self.time
        try await withTemporaryDirectory { directory in
            try await withGateway(in: "\(directory)/gateway", time: time) { gateway in
                try await gateway.registerVectors()
                // As Keychain has exported it, and as the application wants it.
                let exported = try await gateway.providerCertificate().archive(passphrase: "martlet")
                let pem = try ClientCertificate(p12: exported, passphrase: "martlet").pem(passphrase: nil)
                let legacy = LegacyService(
                    binary: gateway.endpoint(gateway.addresses.main.binary),
                    feedback: gateway.endpoint(gateway.addresses.main.feedback)
                )
                let pool = try SenderPool(
                    legacy: [.sandbox: legacy],
                    configuration: .patient,
                    time: time,
                    logger: silentLogger
                )
                try await withServices([pool]) {
                    try await withProvider(
                        senders: pool,
                        time: time,
                        compatibility: try Self.forms(),
                        configure: {
                            $0.feedback = [.sandbox: gateway.endpoint(gateway.addresses.main.feedback)]
                            // Two batches for the two devices.
                            $0.dispatch.page = 1
                        }
                    ) { provider in
                        try await provider.api.post("/v1/apps", ["bundleId": .string(Vectors.bundleID)]).expect(201)
                        let credential = try await provider.api.put(
                            "/v1/apps/\(Vectors.bundleID)/credentials/sandbox",
                            ["certificate": .string(pem), "transport": "binary"]
                        )
                        #expect(credential.status == 200 && credential.json["transport"] == "binary")
                        // The hourly reading is not due after this one, so that it cannot take the entry of the test.
                        #expect(try await provider.readFeedback() == 0)
                        try await self.runMessages(gateway, provider)
                    }
                }
            }
        }
    }

    private func runMessages(_ gateway: RunningGateway, _ provider: RunningProvider) async throws {
        let (first, second) = (try await gateway.activate(), try await gateway.activate())
        try await self.withDevices(gateway, first, second) { one, other in
            for device in [one, other] {
                let token = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
                let form = Data("apns_device[token]=<\(token)>".utf8)
                let path =
                    "/compat/rails/\(Vectors.bundleID)/\(Self.formKey)/admin/apns_devices.json?environment=sandbox"
                let type = ["content-type": "application/x-www-form-urlencoded"]
                let registered = try await provider.api.call("POST", path, form, headers: type)
                #expect(registered.status == 201)
            }
            // The job may run twice: nobody receives the message again.
            let message: JSONValue = ["to": ["all": true], "alert": "one", "badge": 1, "sound": "default"]
            let answer = try await provider.send(message, headers: ["idempotency-key": "message-1"])
            let repeated = try await provider.send(message, headers: ["idempotency-key": "message-1"])
            #expect(answer.json["id"] == repeated.json["id"])
            #expect(try await provider.finished(answer)["counters"]["accepted"] == 2)
            try await provider.finish("two", accepted: 2)
            for device in [one, other] {
                #expect(await device.next()?.body == "one")
                #expect(await device.next()?.body == "two")
            }
            // Later the app is removed from one device.
            self.time.advance(by: .seconds(10))
            let path = "/v1/devices/\(second.deviceID)/topics/\(Vectors.bundleID)?environment=sandbox"
            #expect(try await gateway.admin.delete(path).status == 204)
            try await provider.finish("three", accepted: 2)
            #expect(await one.next()?.body == "three")
            // The binary protocol says nothing of it; the feedback job does.
            var deactivated: Int64 = 0
            while deactivated == 0 { deactivated = try await provider.readFeedback() }
            #expect(deactivated == 1)
            try await provider.finish("four", accepted: 1)
            #expect(await one.next()?.body == "four")
        }
    }

    /// An asynchronous provider of 2009: it writes command 0 over TLS, translates the events of a chat into pushes, and reads
    /// feedback. The bridge sends its pushes over HTTP/2.
    @Test func anAsynchronousProviderOf2009RunsWhole() async throws {
        let time = self.time
        let certificate = try PushCertificate()
        let own = try SelfSignedCertificate.shared.get()
        try await withTemporaryDirectory { directory in
            let files = TLSFiles(certificate: "\(directory)/server.pem", key: "\(directory)/server.key")
            try own.pem.write(toFile: files.certificate, atomically: true, encoding: .utf8)
            try own.key.write(toFile: files.key, atomically: true, encoding: .utf8)
            try await withGateway(in: "\(directory)/gateway", time: time) { gateway in
                try await gateway.registerVectors()
                let service = gateway.endpoint(gateway.addresses.main.http2)
                let pool = try SenderPool(
                    endpoints: [.sandbox: service],
                    configuration: .patient,
                    time: time,
                    logger: silentLogger
                )
                var configuration = BinaryBridgeConfiguration(tls: files)
                (configuration.binaryPort, configuration.feedbackPort) = (0, 0)
                configuration.clients = [try Self.client(certificate)]
                let (bridge, listening) = (Box(), configuration)
                try await withServices([pool]) {
                    try await withProvider(
                        senders: pool,
                        time: time,
                        addition: { parts in
                            let bridges = try Bridges(parts, BridgesConfiguration(binary: listening))
                            bridge.service.withLock { $0 = bridges.binary }
                            return bridges
                        }
                    ) { provider in
                        let listeners = try #require(bridge.service.withLock { $0 })
                        try await self.runChat(gateway, provider, try await listeners.ports(), certificate)
                    }
                }
            }
        }
    }

    private func runChat(
        _ gateway: RunningGateway,
        _ provider: RunningProvider,
        _ ports: BinaryBridgeService.Ports,
        _ certificate: PushCertificate
    ) async throws {
        let trust = try SelfSignedCertificate.shared.get().pem
        let credential = try ClientCertificate(pem: certificate.pem, key: certificate.key)
        @Sendable func endpoint(_ port: Int?) -> PushServiceEndpoint {
            PushServiceEndpoint(host: "localhost", port: port ?? 0, additionalTrustRoots: trust).patient
        }
        var old = BinaryConfiguration()
        old.command = .simple
        old.quietPeriod = .milliseconds(10)
        old.waitTimeout = .patience
        let sender = try BinarySender(
            to: endpoint(ports.binary),
            certificate: credential,
            configuration: old,
            logger: silentLogger
        )
        let identity = try await gateway.activate()
        try await withDeviceConnected(to: gateway.addresses.main.deviceLink, identity, time: self.time) { device in
            let token = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
            // The chat server's events become pushes as they come.
            let (chat, events) = AsyncStream.makeStream(of: String.self)
            for line in ["Romeo: hi", "Romeo: are you there?"] { events.yield(line) }
            events.finish()
            for await line in chat {
                #expect(await sender.send(try Self.push(line, to: token)).isAccepted)
                #expect(await device.next()?.body == line)
            }
            self.time.advance(by: .seconds(10))
            let path = "/v1/devices/\(identity.deviceID)/topics/\(Vectors.bundleID)?environment=sandbox"
            #expect(try await gateway.admin.delete(path).status == 204)
            #expect(await sender.send(try Self.push("Romeo: farewell", to: token)).isAccepted, "silence")
            var client = try FeedbackClient(to: endpoint(ports.feedback), certificate: credential)
            client.idleTimeout = .patience
            var tuples: [FeedbackTuple] = []
            while tuples.isEmpty { for try await tuple in client.tuples() { tuples.append(tuple) } }
            #expect(tuples.map(\.token.hex) == [token])
            #expect(tuples.first?.seconds == UInt32(clamping: self.time.now.seconds))
            let list = try await provider.api.get("/v1/apps/\(Vectors.bundleID)/notifications").json
            #expect(list["notifications"].elements.count == 3, "each is in the ledger")
        }
        await sender.close()
    }

    private func withDevices(
        _ gateway: RunningGateway,
        _ first: DeviceIdentity,
        _ second: DeviceIdentity,
        _ body: @escaping @Sendable (Device, Device) async throws -> Void
    ) async throws {
        let (port, time) = (gateway.addresses.main.deviceLink, self.time)
        try await withDeviceConnected(to: port, first, time: time) { one in
            try await withDeviceConnected(to: port, second, time: time) { other in try await body(one, other) }
        }
    }

    private static func forms() throws -> CompatibilityConfiguration {
        var forms = CompatibilityConfiguration()
        let app = try #require(Topic(Vectors.bundleID))
        forms.apps[app] = CompatibilityConfiguration.FormAccess(key: self.formKey)
        return forms
    }

    private static func client(_ certificate: PushCertificate) throws -> BinaryBridgeConfiguration.Client {
        BinaryBridgeConfiguration.Client(
            topic: try #require(Topic(Vectors.bundleID)),
            environment: .sandbox,
            fingerprints: [certificate.fingerprint],
            credentials: [
                .sandbox: .key(teamID: Vectors.teamID, keyID: Vectors.keyID, privateKey: Vectors.privateKey)
            ]
        )
    }

    private static func push(_ text: String, to token: String) throws -> Push {
        let payload = try JSONValue.object(["aps": ["alert": .string(text)]]).text
        let notification = PushNotification(
            topic: try #require(Topic(Vectors.bundleID)),
            payload: String(decoding: payload, as: UTF8.self)
        )
        return Push(notification, to: try #require(DeviceToken(hex: token)))
    }

    /// Hands the bridge from the provider to the test.
    private final class Box: Sendable {
        let service = Mutex<BinaryBridgeService?>(nil)
    }
}

extension RunningProvider {
    /// Sends a message to all devices, and waits for its end.
    fileprivate func finish(_ text: String, accepted: Int64) async throws {
        let answer = try await self.send(["to": ["all": true], "alert": .string(text)])
        #expect(try await self.finished(answer)["counters"]["accepted"] == .integer(accepted))
    }

    /// Reads the feedback of the vectors' app, and returns the number of devices that it deactivated.
    fileprivate func readFeedback() async throws -> Int64 {
        let path = "/v1/apps/\(Vectors.bundleID)/environments/sandbox:feedback"
        var reading = try await self.api.post(path, [:])
        // The provider may be reading it for itself.
        while reading.status == 409 {
            try Task.checkCancellation()
            reading = try await self.api.post(path, [:])
        }
        #expect(reading.status == 200 && reading.json["error"] == .null)
        try Task.checkCancellation()
        return try #require(reading.json["deactivated"].integerValue)
    }
}

extension RunningGateway {
    /// Returns the address of a listener, with the gateway's authority.
    fileprivate func endpoint(_ port: Int) -> PushServiceEndpoint {
        PushServiceEndpoint(host: "localhost", port: port, additionalTrustRoots: self.gateway.authorityPEM).patient
    }

    /// Returns the certificate of a provider for the vectors' app.
    fileprivate func providerCertificate() async throws -> ClientCertificate {
        let body: JSONValue = ["topic": .string(Vectors.bundleID), "keyType": "p256"]
        let answer = try await self.admin.post("/v1/certificates", body)
        let certificate = try #require(answer.json["certificate"].stringValue)
        let key = try #require(answer.json["privateKey"].stringValue)
        return try ClientCertificate(pem: certificate, key: key)
    }
}

extension Outcome {
    fileprivate var isAccepted: Bool { if case .accepted = self { true } else { false } }
}
