import Foundation
import ProviderAPI
import PushBridges
import PushProvider
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

/// The job of a web application of 2010 that has more devices than fit one batch. The bridge is its push service.
@Suite(.timeLimit(.patience)) struct LegacyBatchTests {
    @Test func batchesOf500GoOverOneConnectionAndReachNobodyTwice() async throws {
        // A second connection would be rejected.
        try await BinaryBridgeFixture.run(configure: { $0.connections = 1 }) { service in
            let time = ManualTime(SystemTime().now)
            let binary = PushServiceEndpoint(
                host: "localhost",
                port: service.ports.binary ?? 0,
                additionalTrustRoots: try SelfSignedCertificate.shared.get().pem
            )
            .patient
            let legacy = LegacyService(binary: binary)
            let pool = try SenderPool(legacy: [.sandbox: legacy], time: time, logger: silentLogger)
            try await withServices([pool]) {
                try await withProvider(senders: pool, time: time, configure: { $0.dispatch.page = 500 }) { provider in
                    try await self.run(provider, service)
                }
            }
        }
    }

    private func run(_ provider: RunningProvider, _ service: BinaryBridgeFixture) async throws {
        let app = try await provider.api.post("/v1/apps", ["bundleId": .string(Vectors.bundleID)])
        #expect(app.status == 201)
        let pem = service.certificate.pem + service.certificate.key
        let credential = try await provider.api.put(
            "/v1/apps/\(Vectors.bundleID)/credentials/sandbox",
            ["certificate": .string(pem), "transport": "binary"]
        )
        #expect(credential.status == 200)
        let tokens = (1...1001).map { DeviceToken.numbered($0).hex }
        let lines = tokens.map { #"{"token":"\#($0)","environment":"sandbox"}"# }
        let registered = try await provider.api.call(
            "POST",
            "/v1/apps/\(Vectors.bundleID)/devices:import",
            Data(lines.joined(separator: "\n").utf8),
            headers: ["content-type": "application/x-ndjson"]
        )
        #expect(registered.json["added"] == 1001)
        let answer = try await provider.send(["to": ["all": true], "alert": "one"])
        let end = try await provider.finished(answer)
        #expect(end["counters"]["accepted"] == 1001)
        var reached: [String] = []
        for await push in service.sent {
            reached.append(push.token.hex)
            if reached.count == tokens.count { break }
        }
        #expect(reached.sorted() == tokens.sorted())
    }
}
