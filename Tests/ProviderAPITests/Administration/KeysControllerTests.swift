import Foundation
import ProviderAPI
import PushSupport
import PushTesting
import Testing

/// API keys and their scopes.
@Suite(.timeLimit(.minutes(5))) struct KeysControllerTests {
    @Test(arguments: [nil, "", "mk_wrong", "Basic x", String(repeating: "a", count: 10_000)])
    func withoutAValidKeyEverythingIsUnauthorized(key: String?) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            var api = provider.api
            api.apiKey = key
            let response = try await api.get("/v1/apps")
            #expect(response.status == 401)
            #expect(response.code == "unauthorized")
            #expect(response.headers["www-authenticate"] == "Bearer")
            #expect(try await api.get("/health").status == 200)
        }
    }

    /// One request for each scope, with what it responses to whoever may.
    static let requests: [(scope: String, method: String, path: String)] = [
        ("admin", "POST", "/v1/apps"), ("admin", "GET", "/v1/keys"), ("admin", "POST", "/v1/keys"),
        ("read", "GET", "/v1/apps"), ("read", "GET", "/v1/notifications/x"),
        ("register", "POST", "/v1/apps/\(Vectors.bundleID)/devices"),
        ("send", "POST", "/v1/apps/\(Vectors.bundleID)/notifications"),
    ]

    @Test(arguments: ["send", "register", "read"])
    func aKeyMayDoWhatItsScopeSaysAndNothingElse(scope: String) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let issued = try await provider.api.post("/v1/keys", ["name": "test", "scopes": [.string(scope)]])
            #expect(issued.status == 201)
            var api = provider.api
            api.apiKey = issued.json["key"].stringValue
            for request in Self.requests {
                let response = try await api.call(request.method, request.path, nil)
                #expect((response.status == 403) == (request.scope != scope), "\(request)")
            }
        }
    }

    @Test func aKeyIsShownOnceAndEndsWhenDeleted() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            let issued = try await provider.api.post("/v1/keys", ["name": "ci", "scopes": ["read"]])
            var api = provider.api
            api.apiKey = issued.json["key"].stringValue
            #expect(try await api.get("/v1/apps").status == 200)
            let listed = try await provider.api.get("/v1/keys").json["keys"].elements
            #expect(listed.count == 2)
            #expect(listed.allSatisfy { $0["key"] == .null })
            #expect(try await provider.api.delete("/v1/keys/\(issued.json["id"].stringValue ?? "")").status == 204)
            #expect(try await api.get("/v1/apps").status == 401)
        }
    }

    @Test func theLastAdminKeyStays() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            let only = try await provider.api.get("/v1/keys").json["keys"].elements.first?["id"].stringValue ?? ""
            let response = try await provider.api.delete("/v1/keys/\(only)")
            #expect(response.status == 409)
            #expect(response.code == "last_admin_key")
        }
    }

    @Test(arguments: [["name": "x"], ["name": "x", "scopes": []], ["name": "x", "scopes": ["root"]]] as [JSONValue])
    func aKeyWithoutAKnownScopeIsRejected(body: JSONValue) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            let response = try await provider.api.post("/v1/keys", body)
            #expect(response.status == 400)
            #expect(response.field == "scopes")
        }
    }

    @Test func ofTwoAdminKeysThatEndEachOtherOneStays() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            for _ in 1...10 {
                let keys = try await provider.api.get("/v1/keys").json["keys"].elements
                let admin = try #require(keys.first?["id"].stringValue)
                let issued = try await provider.api.post("/v1/keys", ["name": "two", "scopes": ["admin"]])
                var other = provider.api
                other.apiKey = issued.json["key"].stringValue
                let second = issued.json["id"].stringValue ?? ""
                async let one = provider.api.delete("/v1/keys/\(second)")
                async let two = other.delete("/v1/keys/\(admin)")
                let responses = try await [one, two]
                // The other is refused for what it is now, or because it is no key any more.
                #expect(responses.count { $0.status == 204 } == 1)
                guard responses[0].status == 204 else { return }
                #expect([401, 409].contains(responses[1].status))
                #expect(try await provider.api.get("/v1/keys").json["keys"].elements.count == 1)
            }
        }
    }

    @Test func aSecondProviderInTheSameFolderIsRejected() async throws {
        try await withTemporaryDirectory { directory in
            let configuration = ProviderConfiguration(dataDirectory: directory)
            let first = try await ProviderServer(
                configuration: configuration,
                senders: ScriptedSender(),
                logger: silentLogger
            )
            await #expect(throws: ProviderError.dataDirectoryInUse(directory)) {
                try await ProviderServer(
                    configuration: configuration,
                    senders: ScriptedSender(),
                    logger: silentLogger
                )
            }
            _ = first.firstAdminKey
        }
    }
}
