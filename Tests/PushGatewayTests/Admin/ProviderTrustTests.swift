import Crypto
import Foundation
import NIOSSL
import PushSupport
import PushTesting
import PushTypes
import SwiftASN1
import Testing
import X509

@testable import PushGateway

/// Apps, keys and certificates in the admin API.
@Suite(.timeLimit(.patience)) struct ProviderTrustTests {
    // MARK: Apps

    @Test func anAppIsMadeReadChangedAndDeleted() async throws {
        try await Self.withAdmin { admin in
            let path = "/v1/apps/\(Vectors.bundleID)"
            let created = try await admin.post("/v1/apps", Self.app)
            #expect(created.status == 201)
            #expect(created.json["broadcast"] == true)
            #expect(try await admin.post("/v1/apps", Self.app).status == 200)
            #expect(try await admin.get(path).json == created.json)
            let off = try await admin.call("PATCH", path, Data(#"{"broadcast":false}"#.utf8))
            #expect(off.status == 200)
            #expect(off.json["broadcast"] == false)
            #expect(try await admin.post("/v1/apps", Self.app).json["broadcast"] == false, "it was there already")
            #expect(try await admin.delete(path).status == 204)
            for response in [
                try await admin.get(path), try await admin.delete(path),
                try await admin.call("PATCH", path, Data(#"{"broadcast":true}"#.utf8)),
                try await admin.get("/v1/apps/é"),
            ] {
                #expect(response.status == 404)
                #expect(response.code == "no_such_app")
            }
        }
    }

    @Test func listsComeInPages() async throws {
        try await Self.withAdmin { admin in
            for name in ["a", "b", "c"] {
                try await admin.post("/v1/apps", ["teamId": .string(Vectors.teamID), "bundleId": .string(name)])
            }
            let first = try await admin.get("/v1/apps?limit=2").json
            #expect(first["apps"].elements.map { $0["bundleId"].stringValue } == ["a", "b"])
            #expect(first["next"] == "b")
            let second = try await admin.get("/v1/apps?limit=2&after=b").json
            #expect(second["apps"].elements.map { $0["bundleId"].stringValue } == ["c"])
            #expect(second["next"] == .null)
            for limit in ["0", "1001", "x"] {
                let response = try await admin.get("/v1/keys?limit=\(limit)")
                #expect(response.status == 400)
                #expect(response.field == "limit")
            }
        }
    }

    // MARK: Keys

    @Test func aKeyThatIsGeneratedIsShownOnce() async throws {
        try await Self.withAdmin { admin in
            let made = try await admin.post("/v1/keys", ["teamId": .string(Vectors.teamID), "generate": true])
            #expect(made.status == 201)
            let pem = try #require(made.json["privateKey"].stringValue)
            _ = try P256.Signing.PrivateKey(pemRepresentation: pem)
            let keyID = try #require(made.json["keyId"].stringValue)
            #expect(keyID.utf8.count == 10)
            let listed = try await admin.get("/v1/keys").json["keys"].elements
            #expect(listed.map { $0["keyId"].stringValue } == [keyID])
            #expect(listed.first?["privateKey"] == .null)
            #expect(try await admin.delete("/v1/keys/\(keyID)").status == 204)
            #expect(try await admin.delete("/v1/keys/\(keyID)").code == "no_such_key")
            let revoked = try await admin.get("/v1/keys").json["keys"].elements.first
            #expect(revoked?["revokedAt"].integerValue == ManualTime().now.milliseconds)
        }
    }

    @Test func aTopicKeyIsStoredWithItsReach() async throws {
        try await Self.withAdmin { admin in
            let response = try await admin.post(
                "/v1/keys",
                [
                    "teamId": .string(Vectors.teamID), "generate": true, "scope": "topics", "environment": "sandbox",
                    "topics": ["com.example.MyApp", "com.example.Other"], "relatedKeyId": "TOPICKEY01",
                ]
            )
            #expect(response.status == 201)
            let key = try await admin.get("/v1/keys").json["keys"].elements.first
            #expect(key?["scope"] == "topics")
            #expect(key?["environment"] == "sandbox")
            #expect(key?["topics"] == ["com.example.MyApp", "com.example.Other"])
            #expect(key?["relatedKeyId"] == "TOPICKEY01")
        }
    }

    @Test(
        arguments: [
            (["generate": false], "missing_field", "key"), (["generate": 1], "wrong_type", "generate"),
            (["generate": true, "key": "x"], "invalid_value", "key"),
            (["key": .string(Vectors.publicKey)], "missing_field", "keyId"),
            (["generate": true, "keyId": "short"], "invalid_identifier", "keyId"),
            (["generate": true, "scope": "all"], "invalid_value", "scope"),
            (["generate": true, "scope": "team", "environment": "sandbox"], "invalid_value", "environment"),
            (["generate": true, "scope": "environment"], "missing_field", "environment"),
            (["generate": true, "scope": "environment", "environment": "moon"], "invalid_environment", "environment"),
            (["generate": true, "topics": ["a"]], "invalid_value", "scope"),
            (["generate": true, "scope": "topics", "environment": "sandbox"], "missing_field", "topics"),
            (
                ["generate": true, "scope": "topics", "environment": "sandbox", "topics": ["a", "a b"]],
                "invalid_bundle_id", "topics[1]"
            ),
            (["generate": true, "colour": "red"], "unknown_field", "colour"),
        ] as [([String: JSONValue], String, String)]
    )
    func aFaultOfAKeyIsNamed(members: [String: JSONValue], code: String, field: String) async throws {
        try await Self.withAdmin { admin in
            let body = members.merging(["teamId": .string(Vectors.teamID)]) { $1 }
            let response = try await admin.post("/v1/keys", .object(body))
            #expect(response.status == 400)
            #expect(response.code == code)
            #expect(response.field == field)
        }
    }

    @Test func aThirdTeamScopedKeyIsTooMany() async throws {
        try await Self.withAdmin { admin in
            let body: JSONValue = [
                "teamId": .string(Vectors.teamID), "generate": true, "scope": "environment", "environment": "sandbox",
            ]
            for _ in 0..<2 { #expect(try await admin.post("/v1/keys", body).status == 201) }
            let response = try await admin.post("/v1/keys", body)
            #expect(response.status == 409)
            #expect(response.code == "too_many")
        }
    }

    // MARK: Certificates

    @Test(arguments: ["rsa", "p256"])
    func aCertificateIsIssuedListedAndRevoked(keyType: String) async throws {
        try await Self.withAdmin { admin in
            let response = try await admin.post(
                "/v1/certificates",
                [
                    "topic": "com.example.MyApp", "topics": ["com.example.MyApp.voip"], "environments": ["sandbox"],
                    "keyType": .string(keyType), "passphrase": "secret",
                ]
            )
            #expect(response.status == 201)
            let pem = try #require(response.json["certificate"].stringValue)
            let details = CertificateDetails(try Certificate(pemEncoded: pem))
            #expect(details.environments == [.sandbox])
            #expect(details.topics?.map(\.topic.name) == ["com.example.MyApp", "com.example.MyApp.voip"])
            #expect(details.topics?.map(\.kinds) == [["app"], ["voip"]])
            let key = try #require(response.json["privateKey"].stringValue)
            _ = try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)
            let archive = try #require(response.json["p12"].stringValue.flatMap { Data(base64Encoded: $0) })
            _ = try NIOSSLPKCS12Bundle(buffer: Array(archive), passphrase: Array("secret".utf8))

            let serial = try #require(response.json["serial"].stringValue)
            let listed = try await admin.get("/v1/certificates").json["certificates"].elements
            #expect(listed.map { $0["serial"].stringValue } == [serial])
            #expect(listed.first?["topics"] == ["com.example.MyApp", "com.example.MyApp.voip"])
            #expect(try await admin.delete("/v1/certificates/\(serial.uppercased())").status == 204)
            #expect(try await admin.delete("/v1/certificates/\(serial)").code == "no_such_certificate")
            let revoked = try await admin.get("/v1/certificates").json["certificates"].elements.first
            #expect(revoked?["revokedAt"].integerValue == ManualTime().now.milliseconds)
        }
    }

    @Test func aCertificateOfOneTopicHasNoListAndServesBothEnvironments() async throws {
        try await Self.withAdmin { admin in
            let response = try await admin.post("/v1/certificates", ["topic": "pass.com.example.ticket"])
            let details = CertificateDetails(
                try Certificate(pemEncoded: try #require(response.json["certificate"].stringValue))
            )
            #expect(details.topics == nil)
            #expect(details.userID == "pass.com.example.ticket")
            #expect(details.environments == [.sandbox, .production])
        }
    }

    @Test(
        arguments: [
            ([:], "missing_field", "topic"), (["topic": "a b"], "invalid_bundle_id", "topic"),
            (["topic": "a", "topics": ["b", ""]], "invalid_value", "topics[1]"),
            (["topic": "a", "environments": []], "invalid_environment", "environments"),
            (["topic": "a", "environments": ["moon"]], "invalid_environment", "environments"),
            (["topic": "a", "keyType": "dsa"], "invalid_value", "keyType"),
            (["topic": "a", "csr": "x"], "invalid_csr", "csr"),
            (["topic": "a", "csr": "x", "keyType": "rsa"], "invalid_value", "keyType"),
            (["topic": "a", "serial": "1"], "unknown_field", "serial"),
        ] as [([String: JSONValue], String, String)]
    )
    func aFaultOfACertificateIsNamed(members: [String: JSONValue], code: String, field: String) async throws {
        try await Self.withAdmin { admin in
            let response = try await admin.post("/v1/certificates", .object(members))
            #expect(response.status == 400)
            #expect(response.code == code)
            #expect(response.field == field)
        }
    }

    private static let app: JSONValue = ["teamId": .string(Vectors.teamID), "bundleId": .string(Vectors.bundleID)]

    private static func withAdmin(_ body: @escaping @Sendable (JSONClient) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: directory, time: ManualTime()) { gateway in
                try await body(gateway.admin)
            }
        }
    }
}
