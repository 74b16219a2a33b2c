import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

/// The statuses of old servers that clients get.
@Suite(.timeLimit(.patience)) struct ShadowStatusTests {
    @Test(arguments: [
        (0, false), (100, false), (101, false), (199, false), (200, true), (302, true), (404, true), (599, true),
        (600, false), (999, false),
    ])
    func onlyAResponseIsHandedOn(status: Int, isHandedOn: Bool) {
        #expect(ShadowForwarder.isHandedOn(status) == isHandedOn)
    }

    /// A client that tries again loses nothing.
    @Test func aServerWithAnotherStatusDoesNotAnswer() async throws {
        try await OldServer.run(status: 600) { server, url in
            try await withBridges { provider in
                let settings: JSONValue = ["shadow": ["upstream": .string(url)]]
                #expect(try await provider.setBridge("gorush", "shop", settings).status == 200)
                let push: JSONValue = ["platform": 1, "tokens": [.string(Vectors.tokenA)], "message": "It is ready"]
                let response = try await provider.api.post("/gorush/shop/api/push", ["notifications": [push]])
                #expect(response.status == 502)
                #expect(server.asked.count == 1)
                let differences = try await provider.shadow("gorush", "shop")["differences"].elements
                #expect(differences.first?["subject"] == "upstream")
                #expect(differences.first?["theirs"].stringValue?.contains("600") == true)
            }
        }
    }
}
