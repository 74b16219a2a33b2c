import Foundation
import ProviderAPI
import PushSupport
import PushTesting
import PushTypes
import Testing

/// API keys and their scopes.
@Suite(.timeLimit(.patience)) struct KeysControllerTests {
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
        ("operate", "PUT", "/v1/apps/\(Vectors.bundleID)/credentials/sandbox"),
        ("operate", "POST", "/v1/apps/\(Vectors.bundleID)/environments/sandbox:resume"),
        ("operate", "GET", "/v1/apps/\(Vectors.bundleID)/webhooks"),
        ("operate", "POST", "/v1/apps/\(Vectors.bundleID)/hygiene/sandbox:discard"),
        ("operate", "POST", "/v1/apps/\(Vectors.bundleID)/devices:reactivate"),
        ("admin", "PATCH", "/v1/apps/\(Vectors.bundleID)"), ("admin", "GET", "/v1/audit"),
        ("admin", "DELETE", "/v1/apps/com.example.Missing"),
    ]

    @Test(arguments: ["send", "register", "operate", "read"])
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

    @Test func aKeyOfAnyScopeShowsItself() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            let issued = try await provider.api.post("/v1/keys", ["name": "ci", "scopes": ["register"]])
            var api = provider.api
            api.apiKey = issued.json["key"].stringValue
            let own = try await api.get("/v1/key")
            #expect(own.status == 200 && own.json["id"] == issued.json["id"] && own.json["name"].stringValue == "ci")
            #expect(own.json["scopes"].elements == ["register"] && own.json["key"] == .null)
            api.apiKey = "mk_wrong"
            #expect(try await api.get("/v1/key").status == 401)
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

    @Test(
        arguments: [
            (["apps": []], "apps"), (["apps": ["a b"]], "apps"), (["apps": ["com.example.Missing"]], "apps"),
            (["expiresAt": "yesterday"], "expiresAt"), (["expiresAt": "2001-01-01T00:00:00Z"], "expiresAt"),
            (["expiresIn": 0], "expiresIn"), (["expiresIn": 60, "expiresAt": "2101-01-01T00:00:00Z"], "expiresIn"),
            (["rate": 0], "rate"), (["rate": "fast"], "rate"),
        ] as [(JSONValue, String)]
    )
    func limitsOfAKeyThatMakeNoSenseAreRejected(limits: JSONValue, field: String) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            guard case .object(var members) = limits else { return }
            let issued = try await provider.api.post("/v1/keys", ["name": "x", "scopes": ["read"]])
            let path = "/v1/keys/\(issued.json["id"].stringValue ?? "")"
            let changed = try await provider.api.call("PATCH", path, try limits.text)
            members["name"] = "x"
            members["scopes"] = ["read"]
            for response in [changed, try await provider.api.post("/v1/keys", .object(members))] {
                #expect(response.status == 400, "\(limits)")
                #expect(response.field == field, "\(limits)")
            }
        }
    }

    @Test func aKeyExpires() async throws {
        let time = ManualTime()
        try await withProvider(senders: ScriptedSender(), time: time) { provider in
            let issued = try await provider.api.post("/v1/keys", ["name": "x", "scopes": ["read"], "expiresIn": 60])
            var api = provider.api
            api.apiKey = issued.json["key"].stringValue
            #expect(try await api.get("/v1/apps").status == 200)
            time.advance(by: .seconds(60))
            let response = try await api.get("/v1/apps")
            #expect(response.status == 401)
            #expect(response.code == "key_expired")
            // An administrator extends it, and its next request is served.
            let path = "/v1/keys/\(issued.json["id"].stringValue ?? "")"
            let changed = try await provider.api.call("PATCH", path, Data(#"{"expiresAt":null}"#.utf8))
            #expect(changed.status == 200)
            #expect(changed.json["expiresAt"] == .null)
            #expect(try await api.get("/v1/apps").status == 200)
        }
    }

    @Test func aChangeOfAKeyCountsFromItsNextRequest() async throws {
        // No second passes, in which another request would be allowed.
        try await withProvider(senders: ScriptedSender(), time: ManualTime()) { provider in
            try await provider.addVectorsApp()
            let issued = try await provider.api.post("/v1/keys", ["name": "x", "scopes": ["read"]])
            var api = provider.api
            api.apiKey = issued.json["key"].stringValue
            let path = "/v1/keys/\(issued.json["id"].stringValue ?? "")"
            let app = "/v1/apps/\(Vectors.bundleID)"
            #expect(try await api.get(app).status == 200)
            for (change, status) in [
                (#"{"scopes":["send"]}"#, 403), (#"{"scopes":["read"]}"#, 200),
            ] {
                #expect(try await provider.api.call("PATCH", path, Data(change.utf8)).status == 200)
                #expect(try await api.get(app).status == status)
            }
            #expect(try await provider.api.call("PATCH", path, Data(#"{"rate":1}"#.utf8)).json["rate"] == 1)
            var statuses: Set<Int> = []
            for _ in 0..<20 { statuses.insert(try await api.get(app).status) }
            #expect(statuses.contains(429))
            #expect(try await provider.api.call("PATCH", path, Data(#"{"rate":null}"#.utf8)).json["rate"] == .null)
            #expect(try await api.get(app).status == 200)
        }
    }

    @Test func theLastUseOfAKeyIsShown() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            let issued = try await provider.api.post("/v1/keys", ["name": "x", "scopes": ["read"]])
            func lastUse() async throws -> JSONValue? {
                let keys = try await provider.api.get("/v1/keys").json["keys"].elements
                return keys.first { $0["id"] == issued.json["id"] }?["lastUsedAt"]
            }
            #expect(try await lastUse() == .null)
            var api = provider.api
            api.apiKey = issued.json["key"].stringValue
            #expect(try await api.get("/v1/apps").status == 200)
            #expect(try await lastUse()?.stringValue?.hasSuffix("Z") == true)
        }
    }

    /// The key of Prometheus reads no user, and a key of one app no metrics of all.
    @Test(arguments: [("metrics", 200, 403), ("read", 200, 200), ("send", 403, 403)])
    func metricsHaveAScopeOfTheirOwn(scope: String, metrics: Int, apps: Int) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            var api = provider.api
            let key: JSONValue = ["name": "x", "scopes": [.string(scope)]]
            api.apiKey = try await provider.api.post("/v1/keys", key).json["key"].stringValue
            #expect(try await api.get("/metrics").status == metrics)
            #expect(try await api.get("/v1/apps").status == apps)
            let narrow: JSONValue = ["name": "y", "scopes": [.string(scope)], "apps": [.string(Vectors.bundleID)]]
            api.apiKey = try await provider.api.post("/v1/keys", narrow).json["key"].stringValue
            #expect(try await api.get("/metrics").status == 403)
        }
    }

    @Test func theLastAdminKeyCannotBeLimited() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let only = try await provider.api.get("/v1/keys").json["keys"].elements.first?["id"].stringValue ?? ""
            for change in [
                #"{"expiresIn":3600}"#, #"{"scopes":["read"]}"#, #"{"apps":["\#(Vectors.bundleID)"]}"#,
            ] {
                let response = try await provider.api.call("PATCH", "/v1/keys/\(only)", Data(change.utf8))
                #expect(response.status == 409)
                #expect(response.code == "last_admin_key")
            }
        }
    }

    /// The audit names what a request made, also where its path does not.
    @Test func theAuditNamesKeyAndResource() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let issued = try await provider.api.post("/v1/keys", ["name": "x", "scopes": ["admin"]])
            var api = provider.api
            api.apiKey = issued.json["key"].stringValue
            let made = try await api.post(
                "/v1/apps/\(Vectors.bundleID)/webhooks",
                ["url": "https://hooks.example.com/push"]
            )
            #expect(made.status == 201)
            let entry = try await provider.api.get("/v1/audit?limit=1").json["entries"].elements.first
            #expect(entry?["key"] == issued.json["id"])
            #expect(entry?["resource"] == made.json["id"])
        }
    }

    /// Registrations and sends are too many for an entry each, and still their key is known.
    @Test func frequentChangesShareAnEntryThatNamesTheirKey() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            for number in 0..<40 { _ = try await provider.register(DeviceToken.numbered(number).hex) }
            let device = "/v1/apps/\(Vectors.bundleID)/devices/\(DeviceToken.numbered(1).hex)"
            #expect(try await provider.api.delete(device).status == 204)
            let entries = try await provider.api.get("/v1/audit").json["entries"].elements
            let added = entries.filter { $0["action"] == .string("POST /v1/apps/\(Vectors.bundleID)/devices") }
            // More than one if a minute has ended meanwhile.
            #expect(added.compactMap { $0["count"].integerValue }.reduce(0, +) == 40)
            #expect(added.count < 10)
            #expect(added.allSatisfy { $0["keyName"] == "first admin key" })
            let removed = entries.filter {
                $0["action"] == .string("DELETE /v1/apps/\(Vectors.bundleID)/devices/{token}")
            }
            #expect(removed.count == 1)
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
