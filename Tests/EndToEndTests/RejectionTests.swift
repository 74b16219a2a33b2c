import Crypto
import PushDevice
import PushSupport
import PushTesting
import Testing

/// What the push service refuses, as the provider's ledger tells it.
@Suite(.timeLimit(.minutes(5))) struct RejectionTests {
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
                try await device.deviceToken(for: "com.example.Other")
            }
            let reason = try await loop.reason(
                of: ["to": ["tokens": [.string(token)]], "environment": "sandbox", "alert": "Hi"]
            )
            #expect(reason == "DeviceTokenNotForTopic")
        }
    }

    @Test func aTopicOfNoAppIsDisallowed() async throws {
        try await withLoop(time: self.time) { loop in
            let bundleID = "com.example.Unknown"
            try await loop.provider.api.post("/v1/apps", ["bundleId": .string(bundleID)])
            try await loop.provider.api.put(
                "/v1/apps/\(bundleID)/credentials/sandbox",
                Self.credential(Vectors.privateKey)
            )
            let answer = try await loop.provider.api.post(
                "/v1/apps/\(bundleID)/notifications",
                ["to": ["tokens": [.string(Vectors.tokenA)]], "environment": "sandbox", "alert": "Hi"]
            )
            _ = try await loop.provider.finished(answer)
            #expect(try await loop.provider.deliveries(answer).first?["reason"] == "TopicDisallowed")
        }
    }

    @Test func aWrongKeyIsAConfigurationFaultAndCostsNoToken() async throws {
        try await withLoop(time: self.time) { loop in
            let token = try await loop.token(try await loop.activate())
            _ = try await loop.provider.register(token)
            let other = P256.Signing.PrivateKey().pemRepresentation
            try await loop.provider.api.put("/v1/apps/\(Vectors.bundleID)/credentials/sandbox", Self.credential(other))
            #expect(try await loop.reason(of: ["to": ["all": true], "alert": "Hi"]) == "InvalidProviderToken")
            let path = "/v1/apps/\(Vectors.bundleID)/devices/\(token)"
            #expect(try await loop.provider.api.get(path).json["devices"].elements.first?["state"] == "active")
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
