import Crypto
import PushDevice
import PushSupport
import PushTesting
import PushTypes
import Testing

/// What the push service refuses, as the provider's ledger tells it.
@Suite(.timeLimit(.patience)) struct RejectionTests {
    let time = ManualTime(SystemTime().now)

    @Test func aTokenThatWasNeverMintedIsBadButStaysRegistered() async throws {
        try await withLoop(time: self.time) { loop in
            _ = try await loop.provider.register(Vectors.tokenA)
            #expect(try await loop.reason(of: ["to": ["all": true], "alert": "Hi"]) == "BadDeviceToken")
            let path = "/v1/apps/\(Vectors.bundleID)/devices/\(Vectors.tokenA)"
            let device = try await loop.provider.api.get(path).json["devices"].elements.first
            #expect(device?["state"] == "active")
        }
    }

    @Test func anotherAppsTokenIsNotForThisTopic() async throws {
        try await withLoop(time: self.time) { loop in
            try await loop.gateway.admin.post(
                "/v1/apps",
                ["teamId": .string(Vectors.teamID), "bundleId": "com.example.Other"]
            )
            let token = try await loop.withDevice(try await loop.activate()) { device in
                try await device.deviceToken(for: "com.example.Other", timeout: .patience)
            }
            let reason = try await loop.reason(
                of: ["to": ["tokens": [.string(token)]], "environment": "sandbox", "alert": "Hi"]
            )
            #expect(reason == "DeviceTokenNotForTopic")
        }
    }

    @Test func aTopicOfNoAppPausesAndIsNotARejection() async throws {
        try await withLoop(time: self.time) { loop in
            let (bundleID, api) = ("com.example.Unknown", loop.provider.api)
            try await api.post("/v1/apps", ["bundleId": .string(bundleID)])
            try await api.put("/v1/apps/\(bundleID)/credentials/sandbox", Self.credential(Vectors.privateKey))
            let tokens: JSONValue = .array((1...5).map { .string(DeviceToken.numbered($0).hex) })
            let answer = try await api.post(
                "/v1/apps/\(bundleID)/notifications",
                ["to": ["tokens": tokens], "environment": "sandbox", "alert": "Hi"]
            )
            #expect(
                try await Self.cause(ofPauseIn: "/v1/apps/\(bundleID)/environments/sandbox", api) == "topicDisallowed"
            )
            let id = answer.json["id"].stringValue ?? ""
            #expect(try await api.get("/v1/notifications/\(id)").json["counters"]["rejected"] == 0)
        }
    }

    @Test func aWrongKeyPausesAndTheRightOneDelivers() async throws {
        try await withLoop(time: self.time) { loop in
            let api = loop.provider.api
            let token = try await loop.token(try await loop.activate())
            _ = try await loop.provider.register(token)
            for number in 1...4 { _ = try await loop.provider.register(DeviceToken.numbered(number).hex) }
            let app = "/v1/apps/\(Vectors.bundleID)"
            let other = P256.Signing.PrivateKey().pemRepresentation
            try await api.put("\(app)/credentials/sandbox", Self.credential(other))
            let answer = try await loop.provider.send(["to": ["all": true], "alert": "Hi"])
            #expect(try await Self.cause(ofPauseIn: "\(app)/environments/sandbox", api) == "credentialRejected")
            try await api.put("\(app)/credentials/sandbox", Self.credential(Vectors.privateKey))
            let counters = try await loop.provider.finished(answer)["counters"]
            #expect(counters["accepted"] == 1)
            #expect(counters["rejected"] == 4)
            let rejected = try await loop.provider.deliveries(answer).filter { $0["state"] == "rejected" }
            #expect(rejected.map { $0["reason"] } == Array(repeating: "BadDeviceToken", count: 4))
            #expect(try await api.get("\(app)/devices/\(token)").json["devices"].elements.first?["state"] == "active")
        }
    }

    @Test func anOversizedPayloadIsRejectedBeforeItIsStored() async throws {
        try await withLoop(time: self.time) { loop in
            let text = String(repeating: "a", count: 4077)
            let answer = try await loop.provider.send(["to": ["all": true], "alert": .string(text)])
            #expect(answer.status == 400)
            #expect(answer.code == "payload_too_large")
            #expect(answer.field == "alert")
        }
    }

    /// Waits until an environment is paused, and returns the cause.
    private static func cause(ofPauseIn environment: String, _ api: JSONClient) async throws -> JSONValue {
        while true {
            let state = try await api.get(environment).json
            if state["state"] == "paused" { return state["cause"] }
            try Task.checkCancellation()
        }
    }

    private static func credential(_ privateKey: String) -> JSONValue {
        [
            "teamId": .string(Vectors.teamID), "keyId": .string(Vectors.keyID), "privateKey": .string(privateKey),
        ]
    }
}

extension RunningLoop {
    /// Sends to one recipient and returns the reason of its refusal.
    func reason(of body: JSONValue) async throws -> String? {
        let answer = try await self.provider.send(body)
        answer.expect(202)
        #expect(try await self.provider.finished(answer)["counters"]["rejected"] == 1)
        return try await self.provider.deliveries(answer).first?["reason"].stringValue
    }
}
