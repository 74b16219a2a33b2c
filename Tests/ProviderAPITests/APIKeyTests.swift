import Foundation
import ProviderAPI
import PushSupport
import PushTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct APIKeyTests {
    @Test(arguments: [nil, "", "mk_wrong", "Basic x", String(repeating: "a", count: 10_000)])
    func withoutAValidKeyNothingIsAnswered(key: String?) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            var api = provider.api
            api.apiKey = key
            let answer = try await api.get("/v1/apps")
            #expect(answer.status == 401)
            #expect(answer.code == "unauthorized")
            #expect(answer.headers["www-authenticate"] == "Bearer")
            #expect(try await api.get("/health").status == 200)
        }
    }

    /// One request for each scope, with what it answers to whoever may.
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
                let answer = try await api.call(request.method, request.path, nil)
                #expect((answer.status == 403) == (request.scope != scope), "\(request)")
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
            let answer = try await provider.api.delete("/v1/keys/\(only)")
            #expect(answer.status == 409)
            #expect(answer.code == "last_admin_key")
        }
    }

    @Test(arguments: [["name": "x"], ["name": "x", "scopes": []], ["name": "x", "scopes": ["root"]]] as [JSONValue])
    func aKeyWithoutAKnownScopeIsRefused(body: JSONValue) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            let answer = try await provider.api.post("/v1/keys", body)
            #expect(answer.status == 400)
            #expect(answer.field == "scopes")
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
                let answers = try await [one, two]
                // The other is refused for what it is now, or because it is no key any more.
                #expect(answers.count { $0.status == 204 } == 1)
                guard answers[0].status == 204 else { return }
                #expect([401, 409].contains(answers[1].status))
                #expect(try await provider.api.get("/v1/keys").json["keys"].elements.count == 1)
            }
        }
    }

    @Test func aSecondProviderInTheSameFolderIsRefused() async throws {
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
