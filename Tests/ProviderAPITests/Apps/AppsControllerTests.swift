import Foundation
import ProviderAPI
import PushSupport
import PushTesting
import Testing

/// Apps, credentials, keys and the audit log.
@Suite(.timeLimit(.patience)) struct AppsControllerTests {
    static let app = "/v1/apps/\(Vectors.bundleID)"

    @Test func anAppsRateIsSetAndTakenAway() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.api.post("/v1/apps", ["bundleId": .string(Vectors.bundleID), "rate": 100])
            #expect(try await provider.api.get(Self.app).json["rate"] == 100)
            let changed = try await provider.api.call("PATCH", Self.app, Data(#"{"rate":7}"#.utf8))
            #expect(changed.json["rate"] == 7)
            let cleared = try await provider.api.call("PATCH", Self.app, Data(#"{"rate":null}"#.utf8))
            #expect(cleared.status == 200)
            #expect(cleared.json["rate"] == .null)
            let wrong = try await provider.api.call("PATCH", Self.app, Data(#"{"rate":0}"#.utf8))
            #expect(wrong.field == "rate")
        }
    }

    @Test func credentialsAreListedWithoutSecretsAndRemoved() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let listed = try await provider.api.get("\(Self.app)/credentials")
            #expect(listed.json["credentials"].elements.count == 2)
            #expect(listed.json["credentials"].elements.first?["teamId"] == .string(Vectors.teamID))
            #expect(!String(decoding: listed.body, as: UTF8.self).contains("PRIVATE"))
            #expect(try await provider.api.delete("\(Self.app)/credentials/sandbox").status == 200)
            #expect(try await provider.api.delete("\(Self.app)/credentials/sandbox").code == "no_such_credential")
            #expect(try await provider.api.get(Self.app).json["environments"] == ["production"])
        }
    }

    @Test(
        arguments: [
            (["p12": "!"], "p12", "invalid_value"), (["p12": "AAAA"], "p12", "invalid_credential"),
            (["certificate": "x"], "certificate", "invalid_credential"),
            (["certificate": "x", "teamId": "y"], "teamId", "conflicting_field"),
            (["passphrase": "x"], "passphrase", "conflicting_field"), ([:], "teamId", "missing_field"),
        ] as [(JSONValue, String, String)]
    )
    func aCertificateThatCannotWorkIsRejected(body: JSONValue, field: String, code: String) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.api.post("/v1/apps", ["bundleId": .string(Vectors.bundleID)])
            let response = try await provider.api.put("\(Self.app)/credentials/sandbox", body)
            #expect(response.status == 400)
            #expect(response.field == field)
            #expect(response.code == code)
        }
    }

    @Test func changesAreAuditedAndReadsAreNot() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA)
            let issued = try await provider.api.post("/v1/keys", ["name": "reader", "scopes": ["read"]])
            var reader = provider.api
            reader.apiKey = issued.json["key"].stringValue
            #expect(try await reader.post("/v1/apps", ["bundleId": "com.example.Other"]).status == 403)
            #expect(try await reader.get("/v1/audit").status == 403)
            let entries = try await provider.api.get("/v1/audit").json["entries"].elements
            let texts = entries.map { "\($0["action"].stringValue ?? "") \($0["status"].integerValue ?? 0)" }
            #expect(
                Set(texts) == [
                    "POST /v1/apps 403", "POST /v1/keys 201", "POST \(Self.app)/devices 201",
                    "PUT \(Self.app)/credentials/production 200", "PUT \(Self.app)/credentials/sandbox 200",
                    "POST /v1/apps 201",
                ]
            )
            #expect(texts.count == 6)
            #expect(entries.first?["keyName"] == "reader")
            let page = try await provider.api.get("/v1/audit?limit=2").json
            #expect(page["entries"].elements == Array(entries.prefix(2)))
            let next = try await provider.api.get("/v1/audit?limit=2&cursor=\(page["next"].stringValue ?? "")").json
            #expect(next["entries"].elements == Array(entries.dropFirst(2).prefix(2)))
        }
    }
}
