import Foundation
import ProviderAPI
import PushSupport
import PushTesting
import PushTypes
import Testing

/// Tags, attributes, preferences and keys that installations write themselves.
@Suite(.timeLimit(.patience)) struct InstallationProfileTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"
    /// The public key of RFC 7748, section 6.1.
    private static let key = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo="

    /// A provider with an app, and a client that has only the public key of the app.
    private func withPublicKey(_ body: @escaping @Sendable (RunningProvider, JSONClient) async throws -> Void)
        async throws
    {
        try await withProvider(senders: ScriptedSender(), configure: { $0.limits.publicKeyRate = 0 }) { provider in
            try await provider.addVectorsApp()
            let key: JSONValue = ["name": "app", "scopes": ["registerSelf"], "apps": [.string(Vectors.bundleID)]]
            let issued = try await provider.api.post("/v1/keys", key)
            var api = provider.api
            api.apiKey = issued.json["key"].stringValue
            try await body(provider, api)
        }
    }

    private static func register(_ api: JSONClient, token: Int = 1, _ more: [String: JSONValue]) async throws
        -> JSONClient.Response
    {
        let usual: [String: JSONValue] = ["token": .string(DeviceToken.numbered(token).hex), "environment": "sandbox"]
        return try await api.put("\(Self.app)/installations/installation-1", .object(usual.merging(more) { $1 }))
    }

    private static func device(_ provider: RunningProvider, token: Int = 1) async throws -> JSONValue {
        let path = "\(Self.app)/devices/\(DeviceToken.numbered(token).hex)"
        return try await provider.api.get(path).json["devices"].elements.first ?? .null
    }

    private static func change(_ provider: RunningProvider, _ members: JSONValue) async throws -> JSONClient.Response {
        try await provider.api.call("PATCH", Self.app, try members.text)
    }

    @Test func anInstallationWritesTheNamesThatTheAppAllows() async throws {
        try await self.withPublicKey { provider, api in
            let refused = try await Self.register(api, ["tags": ["news.sport"]])
            #expect(refused.status == 403)
            #expect(refused.field == "tags")
            #expect(refused.json["error"]["message"].stringValue?.contains("installationTags") == true)
            let settings: JSONValue = ["installationTags": ["news.*", "beta"], "installationAttributes": ["team"]]
            let changed = try await Self.change(provider, settings)
            #expect(changed.json["installationTags"] == ["news.*", "beta"])
            #expect(changed.json["installationAttributes"] == ["team"])
            // The back end's own tag and attribute stay, whatever the installation writes.
            _ = try await provider.register(
                DeviceToken.numbered(1).hex,
                [
                    "installation": "installation-1", "tags": ["vip", "news.old"],
                    "attributes": ["plan": "gold", "team": "a"],
                ]
            )
            let own: [String: JSONValue] = ["tags": ["news.sport", "beta"], "attributes": ["team": "red"]]
            #expect(try await Self.register(api, own).status == 200)
            var device = try await Self.device(provider)
            #expect(device["tags"] == ["beta", "news.sport", "vip"])
            #expect(device["attributes"] == ["plan": "gold", "team": "red"])
            // Absent keeps, null clears what is the installation's own.
            #expect(try await Self.register(api, [:]).status == 200)
            #expect(try await Self.device(provider)["tags"] == ["beta", "news.sport", "vip"])
            #expect(try await Self.register(api, ["tags": .null, "attributes": .null]).status == 200)
            device = try await Self.device(provider)
            #expect(device["tags"] == ["vip"])
            #expect(device["attributes"] == ["plan": "gold"])
            for more in [["tags": ["vip"]], ["attributes": ["plan": "free"]], ["attributes": ["plan": .null]]]
                as [[String: JSONValue]]
            {
                #expect(try await Self.register(api, more).status == 403)
            }
        }
    }

    @Test(arguments: ["a*b", "**", "a\nb"]) func aStarIsOnlyAtTheEnd(pattern: String) async throws {
        try await self.withPublicKey { provider, _ in
            let response = try await Self.change(provider, ["installationTags": ["ok", .string(pattern)]])
            #expect(response.status == 400)
            #expect(response.field == "installationTags[1]")
        }
    }

    @Test func preferencesAndKeysAreSharedByTheTokensOfAnInstallation() async throws {
        try await self.withPublicKey { provider, api in
            let preferences: JSONValue = ["optOuts": ["marketing"], "quietHours": ["from": "22:00", "to": "07:00"]]
            let key: JSONValue = ["id": "k1", "key": .string(Self.key)]
            let first = try await Self.register(
                api,
                ["preferences": preferences, "encryptionKey": key, "capabilities": ["alert", "background"]]
            )
            #expect(first.status == 200)
            let secret = first.json["secret"]
            let second: [String: JSONValue] = ["kind": "liveActivityStart", "secret": secret]
            #expect(try await Self.register(api, token: 2, second).status == 200)
            for token in [1, 2] {
                let device = try await Self.device(provider, token: token)
                #expect(device["preferences"] == preferences)
                #expect(device["encryptionKey"] == key)
                #expect(device["capabilities"] == ["alert", "background"])
            }
            // A change of one token's registration is one of all.
            let newer: JSONValue = ["id": "k2", "key": .string(Self.key)]
            #expect(try await Self.register(api, ["preferences": .null, "encryptionKey": newer]).status == 200)
            let other = try await Self.device(provider, token: 2)
            #expect(other["preferences"] == .null)
            #expect(other["encryptionKey"] == newer)
            #expect(try await Self.register(api, ["encryptionKey": .null]).status == 200)
            #expect(try await Self.device(provider, token: 2)["encryptionKey"] == .null)
        }
    }

    /// The key of the installation before opens nothing for the one that has the token now.
    @Test func aTokenOfAnotherInstallationBringsNoKey() async throws {
        try await self.withPublicKey { provider, api in
            let key: JSONValue = ["id": "k1", "key": .string(Self.key)]
            let first = try await Self.register(api, ["encryptionKey": key])
            #expect(first.status == 200)
            let usual: JSONValue = ["token": .string(DeviceToken.numbered(1).hex), "environment": "sandbox"]
            #expect(try await api.put("\(Self.app)/installations/installation-2", usual).status == 200)
            #expect(try await Self.device(provider)["encryptionKey"] == .null)
        }
    }

    @Test(
        arguments: [
            (["preferences": ["optOuts": "marketing"]], "preferences.optOuts"),
            (["preferences": ["optOuts": [""]]], "preferences.optOuts[0]"),
            (["preferences": ["optOuts": ["a\nb"]]], "preferences.optOuts[0]"),
            (["preferences": ["quietHours": ["from": "25:00", "to": "07:00"]]], "preferences.quietHours.from"),
            (["preferences": ["quietHours": ["from": "07:00"]]], "preferences.quietHours.to"),
            (["preferences": ["quietHours": ["from": "07:00", "to": "07:00"]]], "preferences.quietHours.to"),
            (["preferences": ["other": 1]], "preferences.other"), (["preferences": 1], "preferences"),
            (["encryptionKey": ["id": "k"]], "encryptionKey.key"),
            (["encryptionKey": ["key": "AAAA"]], "encryptionKey.id"),
            (["encryptionKey": ["id": "k", "key": "AAAA"]], "encryptionKey.key"),
            (["encryptionKey": ["id": "k", "key": "not base64"]], "encryptionKey.key"),
            (["capabilities": ["fly"]], "capabilities[0]"), (["tags": "beta"], "tags"),
        ] as [([String: JSONValue], String)]
    )
    func whatIsNotUnderstoodIsRefused(more: [String: JSONValue], field: String) async throws {
        try await self.withPublicKey { provider, api in
            let response = try await Self.register(api, more)
            #expect(response.status == 400)
            #expect(response.field == field)
            #expect(try await Self.device(provider) == .null)
        }
    }

    /// Points of low order, to which a secret would be known to everybody (RFC 7748, section 6.1).
    @Test(
        arguments: [
            String(repeating: "00", count: 32), "01" + String(repeating: "00", count: 31),
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
            "ec" + String(repeating: "ff", count: 30) + "7f", "ed" + String(repeating: "ff", count: 30) + "7f",
        ]
    )
    func aPointOfLowOrderIsNoKey(hex: String) async throws {
        let bytes = try #require(DeviceToken(hex: hex)).bytes
        try await self.withPublicKey { _, api in
            let key: JSONValue = ["id": "k", "key": .string(Data(bytes).base64EncodedString())]
            let response = try await Self.register(api, ["encryptionKey": key])
            #expect(response.status == 400)
            #expect(response.code == "invalid_key")
        }
    }

    @Test func aUserHasPreferencesByTheBackEnd() async throws {
        try await self.withPublicKey { provider, api in
            let path = "\(Self.app)/users/alice/preferences"
            #expect(try await provider.api.get(path).json == ["optOuts": []])
            let preferences: JSONValue = ["optOuts": ["marketing"], "quietHours": ["from": "21:30", "to": "08:00"]]
            let answer: JSONValue = [
                "optOuts": ["marketing"], "quietHours": ["from": "21:30", "to": "08:00"], "underWay": 0,
            ]
            #expect(try await provider.api.put(path, preferences).json == answer)
            #expect(try await provider.api.get(path).json == preferences)
            #expect(try await provider.api.put(path, ["optOuts": ["a"], "never": 1]).status == 400)
            #expect(try await api.get(path).status == 403)
            #expect(try await provider.api.put(path, [:]).json == ["optOuts": [], "underWay": 0])
            let changed = try await Self.change(provider, ["cap": ["count": 3, "window": "24h"]])
            #expect(changed.json["cap"] == ["count": 3, "window": "24h"])
            for cap in [
                ["count": 0, "window": "24h"], ["count": 1], ["count": 1, "window": "31d"],
                ["count": 1, "window": "x"],
            ]
                as [[String: JSONValue]]
            {
                #expect(try await Self.change(provider, ["cap": .object(cap)]).status == 400)
            }
            #expect(try await Self.change(provider, ["cap": .null]).json["cap"] == .null)
        }
    }

    /// What is exported can be imported, in either format.
    @Test(arguments: [("ndjson", "application/x-ndjson"), ("csv", "text/csv")])
    func anExportKeepsPreferencesAndKeys(format: String, type: String) async throws {
        try await self.withPublicKey { provider, api in
            let preferences: JSONValue = [
                "optOuts": ["a,b", "marketing"], "quietHours": ["from": "22:00", "to": "07:00"],
            ]
            let key: JSONValue = ["id": "k1", "key": .string(Self.key)]
            #expect(try await Self.register(api, ["preferences": preferences, "encryptionKey": key]).status == 200)
            let export = try await provider.api.get("\(Self.app)/devices:export?format=\(format)")
            #expect(export.status == 200)
            let token = DeviceToken.numbered(1).hex
            #expect(try await provider.api.call("DELETE", "\(Self.app)/devices/\(token)", nil).status == 204)
            let headers = ["content-type": type]
            let imported = try await provider.api.call(
                "POST",
                "\(Self.app)/devices:import",
                export.body,
                headers: headers
            )
            #expect(imported.status == 200)
            let device = try await Self.device(provider)
            #expect(device["preferences"] == preferences)
            #expect(device["encryptionKey"] == key)
        }
    }
}
