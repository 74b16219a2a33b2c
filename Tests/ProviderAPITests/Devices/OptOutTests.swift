import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI

/// What a change of preferences or of the user says about a push that is under way (docs/decisions/0051).
@Suite(.timeLimit(.patience)) struct OptOutTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"
    private static let installation = "installation-1"

    private static func device(_ optOut: String) -> [String: JSONValue] {
        [
            "token": .string(Vectors.tokenA), "environment": "sandbox", "installation": .string(Self.installation),
            "preferences": ["optOuts": [.string(optOut)]],
        ]
    }

    /// Runs a provider whose push to Alice's device is under way.
    private func withPush(_ body: @escaping @Sendable (RunningProvider) async throws -> Void) async throws {
        let (sender, gate) = (ScriptedSender(), Gate())
        sender.onSend { _ in await gate.pass() }
        try await withProvider(senders: sender, configure: { $0.limits.publicKeyRate = 0 }) { provider in
            defer { gate.open() }
            try await provider.addVectorsApp()
            let more: [String: JSONValue] = ["user": "alice", "installation": .string(Self.installation)]
            _ = try await provider.register(Vectors.tokenA, more)
            _ = try await provider.send(["to": ["all": true], "alert": "Hi", "environment": "sandbox"])
            try await eventually { !sender.sent.isEmpty }
            try await body(provider)
        }
    }

    @Test func aRegistrationWithOtherPreferencesCounts() async throws {
        try await self.withPush { provider in
            for underWay: JSONValue in [1, .null] {
                let registered = try await provider.register(Vectors.tokenA, Self.device("a"))
                #expect(registered.json["underWay"] == underWay)
            }
        }
    }

    @Test func aBatchWithOtherPreferencesCounts() async throws {
        try await self.withPush { provider in
            let batch: JSONValue = ["devices": [.object(Self.device("a"))]]
            for underWay: JSONValue in [1, .null] {
                let registered = try await provider.api.post("\(Self.app)/devices:batch", batch)
                #expect(registered.json["underWay"] == underWay)
            }
        }
    }

    @Test func anImportWithOtherPreferencesCounts() async throws {
        try await self.withPush { provider in
            let line = try JSONValue.object(Self.device("a")).text
            for underWay: JSONValue in [1, 0] {
                let imported = try await provider.api.call(
                    "POST",
                    "\(Self.app)/devices:import",
                    line,
                    headers: ["content-type": "application/x-ndjson"]
                )
                #expect(imported.status == 200)
                #expect(imported.json["refreshed"] == 1)
                #expect(imported.json["underWay"] == underWay)
            }
        }
    }

    @Test func anInstallationWithOtherPreferencesCounts() async throws {
        try await self.withPush { provider in
            let key: JSONValue = ["name": "app", "scopes": ["registerSelf"], "apps": [.string(Vectors.bundleID)]]
            var api = provider.api
            api.apiKey = try await provider.api.post("/v1/keys", key).json["key"].stringValue
            var body = Self.device("a")
            body["installation"] = nil
            for underWay: JSONValue in [1, .null] {
                let path = "\(Self.app)/installations/\(Self.installation)"
                let registered = try await api.put(path, .object(body))
                #expect(registered.status == 200)
                #expect(registered.json["underWay"] == underWay)
            }
        }
    }

    /// The device is nobody's, and then another user's.
    @Test func anotherUserCounts() async throws {
        try await self.withPush { provider in
            for (user, underWay) in [("alice", .null), (.null, 1), ("carol", .null), ("bob", 1)]
                as [(JSONValue, JSONValue)]
            {
                let registered = try await provider.register(Vectors.tokenA, ["user": user])
                #expect(registered.json["underWay"] == underWay, "\(user)")
            }
        }
    }
}
