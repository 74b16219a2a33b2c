import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI

/// Clients that send wrong API keys, and those of the same address that send right ones.
@Suite(.timeLimit(.patience)) struct WrongKeyTests {
    @Test func wrongKeysAreLimitedAndRightOnesAreNot() async throws {
        try await withProvider(senders: ScriptedSender(), time: ManualTime()) { provider in
            let issued = try await provider.api.post("/v1/keys", ["name": "ci", "scopes": ["read"]])
            var (wrong, other) = (provider.api, provider.api)
            other.apiKey = issued.json["key"].stringValue
            var statuses: [Int] = []
            for number in 0..<30 {
                wrong.apiKey = "mk_wrong\(number)"
                let response = try await wrong.get("/v1/apps")
                statuses.append(response.status)
                if response.status == 429 { #expect(response.headers["retry-after"] != nil) }
            }
            #expect(statuses == Array(repeating: 401, count: 20) + Array(repeating: 429, count: 10))
            #expect(try await provider.api.get("/v1/apps").status == 200)
            #expect(try await other.get("/v1/apps").status == 200, "it was not used before")
            let id = try #require(issued.json["id"].stringValue)
            #expect(try await provider.api.delete("/v1/keys/\(id)").status == 204)
            // The first time it is told, then it is one of the others.
            #expect(try await other.get("/v1/apps").status == 401)
            #expect(try await other.get("/v1/apps").status == 429)
        }
    }
}
