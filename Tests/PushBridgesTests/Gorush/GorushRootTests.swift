import PushSupport
import PushTesting
import Testing

/// The root of gorush's routes, where no path names a bridge.
@Suite(.timeLimit(.patience)) struct GorushRootTests {
    private static let other = "com.example.Other"

    /// Returns a request with so many notifications.
    private static func body(_ count: Int = 1) -> JSONValue {
        let notification: JSONValue = ["platform": 1, "tokens": [.string(Vectors.tokenA)], "message": "Tea"]
        return ["notifications": .array(Array(repeating: notification, count: count))]
    }

    private static func setBridge(_ name: String, of app: String, _ provider: RunningProvider) async throws {
        #expect(try await provider.api.put("/v1/apps/\(app)/bridges/gorush/\(name)", [:]).status == 200)
    }

    /// Returns the number of notifications in the ledger of the vectors' app.
    private static func accepted(_ provider: RunningProvider) async throws -> Int {
        try await provider.api.get("/v1/apps/\(Vectors.bundleID)/notifications").json["notifications"].elements.count
    }

    /// A neighbour takes a name of its own, and then that of the standard bridge.
    @Test func bridgesOfOtherAppsDoNotChangeTheRoot() async throws {
        try await withBridges { provider in
            try await provider.api.post("/v1/apps", ["bundleId": .string(Self.other)])
            try await Self.setBridge(Vectors.bundleID, of: Vectors.bundleID, provider)
            let own = try await provider.client(["send"], apps: [Vectors.bundleID])
            let all = try await provider.client(["send"])
            for name in [Self.other, "default"] {
                try await Self.setBridge(name, of: Self.other, provider)
                for client in [own, all] {
                    let response = try await client.post("/api/push", Self.body())
                    #expect(response.status == 200 && response.json["logs"] == [])
                }
            }
            #expect(try await Self.accepted(provider) == 4)
            // The neighbour's own key reaches its own app, which has no credential.
            let neighbour = try await provider.client(["send"], apps: [Self.other])
            let response = try await neighbour.post("/api/push", Self.body())
            #expect(response.status == 200 && response.json["logs"].elements.count == 1)
            #expect(try await Self.accepted(provider) == 4)
        }
    }

    @Test func theStandardBridgeOfAnAppGoesBeforeItsFirst() async throws {
        try await withBridges { provider in
            try await provider.setBridge("gorush", Vectors.bundleID)
            try await provider.setBridge("gorush", "com.example.MyApp.staging")
            let own = try await provider.client(["send"], apps: [Vectors.bundleID])
            #expect(try await own.post("/api/push", Self.body(2)).status == 200, "there is a second one")
            try await provider.setBridge("gorush", "default", ["maxNotifications": 1])
            for client in [own, provider.api] {
                #expect(try await client.post("/api/push", Self.body(2)).status == 400)
            }
            // A change leaves the order as it is.
            try await provider.api.delete("/v1/apps/\(Vectors.bundleID)/bridges/gorush/default")
            try await provider.setBridge("gorush", Vectors.bundleID, ["maxNotifications": 2])
            #expect(try await own.post("/api/push", Self.body(3)).status == 400)
            #expect(try await own.post("/api/push", Self.body(2)).status == 200)
        }
    }

    @Test func aKeyForAnAppWithoutABridgeReachesNone() async throws {
        try await withBridges { provider in
            try await provider.api.post("/v1/apps", ["bundleId": .string(Self.other)])
            try await provider.setBridge("gorush", "default")
            let stranger = try await provider.client(["send"], apps: [Self.other])
            #expect(try await stranger.post("/api/push", Self.body()).status == 404)
            let reader = try await provider.client(["read"], apps: [Vectors.bundleID])
            #expect(try await reader.post("/api/push", Self.body()).status == 403)
        }
    }
}
