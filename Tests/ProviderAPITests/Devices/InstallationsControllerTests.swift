import Crypto
import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI

/// Registration with a public key, which every copy of an app holds.
@Suite(.timeLimit(.patience)) struct InstallationsControllerTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"

    /// A provider with an app, and a client that has only the public key of the app.
    private func withPublicKey(
        time: any TimeSource = SystemTime(),
        configure: @Sendable (inout ProviderConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningProvider, JSONClient) async throws -> Void
    ) async throws {
        try await withProvider(
            senders: ScriptedSender(),
            time: time,
            configure: {
                $0.limits.publicKeyRate = 0
                configure(&$0)
            }
        ) { provider in
            try await provider.addVectorsApp()
            let key: JSONValue = ["name": "app", "scopes": ["registerSelf"], "apps": [.string(Vectors.bundleID)]]
            let issued = try await provider.api.post("/v1/keys", key)
            #expect(issued.json["key"].stringValue?.hasPrefix("mk_public_") == true)
            var api = provider.api
            api.apiKey = issued.json["key"].stringValue
            try await body(provider, api)
        }
    }

    private static func register(
        _ api: JSONClient,
        _ installation: String,
        token: Int,
        _ more: [String: JSONValue] = [:]
    ) async throws -> JSONClient.Response {
        let usual: [String: JSONValue] = ["token": .string(DeviceToken.numbered(token).hex), "environment": "sandbox"]
        return try await api.put("\(Self.app)/installations/\(installation)", .object(usual.merging(more) { $1 }))
    }

    private static func devices(_ provider: RunningProvider, token: Int) async throws -> [JSONValue] {
        let path = "\(Self.app)/devices/\(DeviceToken.numbered(token).hex)"
        return try await provider.api.get(path).json["devices"].elements
    }

    private static func jwt(_ claims: [String: JSONValue], _ secret: String) throws -> JSONValue {
        func encode(_ data: Data) -> String {
            data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
        let signed = "\(encode(Data(#"{"alg":"HS256"}"#.utf8))).\(encode(try JSONValue.object(claims).text))"
        let code = HMAC<SHA256>.authenticationCode(
            for: Data(signed.utf8),
            using: SymmetricKey(data: Data(secret.utf8))
        )
        return .string("\(signed).\(encode(Data(code)))")
    }

    @Test func anAppRegistersItsOwnDevice() async throws {
        try await self.withPublicKey { provider, api in
            let first = try await Self.register(api, "installation-1", token: 1, ["locale": "de"])
            #expect(first.status == 200)
            let secret = try #require(first.json["secret"].stringValue)
            // Without the secret a changed token is not believed, with it it is.
            let stolen = try await Self.register(api, "installation-1", token: 2)
            #expect(stolen.status == 403)
            #expect(stolen.code == "not_own_installation")
            let wrong = try await Self.register(api, "installation-1", token: 2, ["secret": "wrong"])
            #expect(wrong.status == 403)
            #expect(try await Self.register(api, "installation-1", token: 1).json["secret"] == .string(secret))
            #expect(try await Self.register(api, "installation-1", token: 2, ["secret": .string(secret)]).status == 200)
            let devices = try await Self.devices(provider, token: 2)
            #expect(devices.map { $0["locale"] } == ["de"])
            #expect(try await Self.devices(provider, token: 1).isEmpty)
        }
    }

    /// A secret that differs in one byte, or in all of them, is another one.
    @Test func onlyTheSecretIsEqualToIt() {
        let secret = "AZaz09-_qwertyuiopQWERTYUIOPasdfghjklASDFGH"
        #expect(InstallationSecret.isEqual(secret, secret))
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        for index in secret.utf8.indices {
            for digit in digits where digit != secret.utf8[index] {
                var bytes = Array(secret.utf8)
                bytes[secret.utf8.distance(from: secret.startIndex, to: index)] = digit
                #expect(!InstallationSecret.isEqual(String(decoding: bytes, as: UTF8.self), secret))
            }
        }
        for digit in digits {
            let other = String(decoding: repeatElement(digit, count: secret.utf8.count), as: UTF8.self)
            #expect(!InstallationSecret.isEqual(other, secret))
        }
        for other in ["", "A", secret + "A", String(secret.dropLast())] {
            #expect(!InstallationSecret.isEqual(other, secret))
        }
    }

    @Test func anAppRemovesItsOwnDeviceOnly() async throws {
        try await self.withPublicKey { provider, api in
            let one = try await Self.register(api, "installation-1", token: 1)
            let two = try await Self.register(api, "installation-2", token: 2)
            let path = "\(Self.app)/installations/installation-2"
            for secret in [nil, "", one.json["secret"].stringValue] {
                let headers = secret.map { ["installation-secret": $0] } ?? [:]
                #expect(try await api.call("DELETE", path, nil, headers: headers).status == 403)
            }
            let headers = ["installation-secret": two.json["secret"].stringValue ?? ""]
            #expect(try await api.call("DELETE", path, nil, headers: headers).status == 204)
            #expect(try await Self.devices(provider, token: 2).isEmpty)
            #expect(try await Self.devices(provider, token: 1).count == 1)
        }
    }

    /// The store's texts end at a NUL, and the secret is made of the whole id.
    @Test func anInstallationWithANULIsNoOther() async throws {
        try await self.withPublicKey { provider, api in
            _ = try await Self.register(api, "installation-1", token: 1)
            let stolen = try await Self.register(api, "installation-1%00", token: 2)
            #expect(stolen.status == 400 && stolen.code == "invalid_value")
            let path = "\(Self.app)/installations/installation-1%00"
            #expect(try await api.call("DELETE", path, nil).status == 400)
            #expect(try await Self.devices(provider, token: 1).count == 1)
        }
    }

    /// The secret is one for both environments, so that a token in one of them is no way to it.
    @Test func anotherEnvironmentIsNoWayToTheSecret() async throws {
        try await self.withPublicKey { provider, api in
            let own = try await Self.register(api, "installation-1", token: 1)
            let stolen = try await Self.register(api, "installation-1", token: 2, ["environment": "production"])
            #expect(stolen.status == 403)
            #expect(stolen.code == "not_own_installation")
            let more: [String: JSONValue] = ["environment": "production", "secret": own.json["secret"]]
            #expect(try await Self.register(api, "installation-1", token: 3, more).status == 200)
            // One request removes both devices.
            let headers = ["installation-secret": own.json["secret"].stringValue ?? ""]
            let path = "\(Self.app)/installations/installation-1"
            #expect(try await api.call("DELETE", path, nil, headers: headers).status == 204)
            for token in [1, 3] { #expect(try await Self.devices(provider, token: token).isEmpty) }
        }
    }

    /// Everything but the own installation is refused, and so are tags, attributes and a user without a proof. Names
    /// that an app allows are tested with ``InstallationProfileTests``.
    @Test func aPublicKeyMayNothingElse() async throws {
        try await self.withPublicKey { provider, api in
            _ = try await provider.register(DeviceToken.numbered(9).hex, ["user": "alice"])
            for (method, path) in [
                ("GET", "/v1/apps"), ("GET", Self.app), ("GET", "\(Self.app)/devices"), ("POST", "\(Self.app)/devices"),
                ("DELETE", "\(Self.app)/devices/\(DeviceToken.numbered(9).hex)"), ("GET", "/metrics"),
                ("GET", "/v1/keys"), ("GET", "/v1/key"),
                ("POST", "\(Self.app)/notifications"), ("GET", "\(Self.app)/users/alice/history"),
                ("DELETE", "\(Self.app)/users/alice"),
                ("PUT", "/v1/apps/com.example.Other/installations/installation-1"),
            ] {
                #expect(try await api.call(method, path, nil).status == 403, "\(method) \(path)")
            }
            for (more, status, code) in [
                (["user": "alice"], 400, "unknown_field"), (["tags": ["vip"]], 403, "tag_not_allowed"),
                (["attributes": ["paid": true]], 403, "attribute_not_allowed"),
            ] as [([String: JSONValue], Int, String)] {
                let response = try await Self.register(api, "installation-1", token: 1, more)
                #expect(response.status == status)
                #expect(response.code == code)
            }
        }
    }

    @Test func aUserNeedsAProof() async throws {
        try await self.withPublicKey { provider, api in
            let made = try await provider.api.post("\(Self.app)/user-secrets", [:])
            #expect(made.status == 201)
            let secret = try #require(made.json["secret"].stringValue)
            let end = JSONValue.integer(Int64(Date.now.timeIntervalSince1970) + 600)
            let claims: [String: JSONValue] = ["sub": "alice", "exp": end, "installation": "installation-1"]
            let proof = try Self.jwt(claims, secret)
            let response = try await Self.register(api, "installation-1", token: 1, ["userProof": proof])
            #expect(response.status == 200)
            #expect(try await Self.devices(provider, token: 1).map { $0["user"] } == ["alice"])
            // A refresh without a proof changes nothing, and the proof is worth nothing elsewhere.
            #expect(try await Self.register(api, "installation-1", token: 1).status == 200)
            #expect(try await Self.devices(provider, token: 1).map { $0["user"] } == ["alice"])
            let replayed = try await Self.register(api, "installation-2", token: 2, ["userProof": proof])
            #expect(replayed.status == 403)
            #expect(replayed.code == "invalid_user_proof")
            let forged = try Self.jwt(claims, "us_guess")
            #expect(try await Self.register(api, "installation-1", token: 1, ["userProof": forged]).status == 403)
            // Who takes the token over has to prove the user anew.
            #expect(try await Self.register(api, "installation-3", token: 1).status == 200)
            #expect(try await Self.devices(provider, token: 1).map { $0["user"] } == [.null])
            // Without its secret a proof is worth nothing.
            let path = "\(Self.app)/user-secrets/\(made.json["id"].stringValue ?? "")"
            #expect(try await provider.api.delete(path).status == 204)
            let late = try await Self.register(api, "installation-1", token: 4, ["userProof": proof])
            #expect(late.status == 403)
        }
    }

    @Test func anAppHasTwoUserSecretsAtMost() async throws {
        try await self.withPublicKey { provider, _ in
            let path = "\(Self.app)/user-secrets"
            for status in [201, 201, 409] { #expect(try await provider.api.post(path, [:]).status == status) }
            let listed = try await provider.api.get(path).json["userSecrets"].elements
            #expect(listed.count == 2)
            #expect(listed.allSatisfy { $0["secret"] == .null })
        }
    }

    /// One address cannot take the rate of others' registrations.
    @Test func anAddressHasItsRate() async throws {
        try await self.withPublicKey(time: ManualTime(), configure: { $0.limits.publicKeyRate = 1 }) { _, api in
            var statuses: [Int] = []
            for _ in 0..<5 { statuses.append(try await Self.register(api, "installation-1", token: 1).status) }
            #expect(Set(statuses) == [200, 429] && statuses.last == 429)
        }
    }

    /// An address that exceeds its rate does not use up the rate of the key, which all copies of the app share.
    @Test func anAddressBeyondItsRateTakesNothingOfTheKeys() async throws {
        try await self.withPublicKey(time: ManualTime(), configure: { $0.limits.publicKeyRate = 1 }) { provider, api in
            let members: JSONValue = [
                "name": "rated", "scopes": ["registerSelf"], "apps": [.string(Vectors.bundleID)], "rate": 3,
            ]
            var rated = api
            rated.apiKey = try await provider.api.post("/v1/keys", members).json["key"].stringValue
            let client = rated
            let responses = try await withThrowingTaskGroup(of: JSONClient.Response.self) { group in
                for _ in 0..<20 { group.addTask { try await Self.register(client, "installation-1", token: 1) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for response in responses where response.status != 200 {
                #expect(response.status == 429)
                #expect(response.json["error"]["message"].stringValue?.hasPrefix("this address has 1 requests") == true)
            }
        }
    }

    @Test(
        arguments: [
            (["scopes": ["registerSelf", "read"], "apps": [.string(Vectors.bundleID)]], "scopes"),
            (["scopes": ["registerSelf"]], "apps"),
        ] as [([String: JSONValue], String)]
    )
    func aPublicKeyIsForNamedAppsAndNothingElse(members: [String: JSONValue], field: String) async throws {
        try await self.withPublicKey { provider, _ in
            let response = try await provider.api.post("/v1/keys", .object(members.merging(["name": "x"]) { $1 }))
            #expect(response.status == 400)
            #expect(response.field == field)
        }
    }

    @Test func aPublicKeyStaysPublic() async throws {
        try await self.withPublicKey { provider, _ in
            let keys = try await provider.api.get("/v1/keys").json["keys"].elements
            let key = keys.first { $0["name"] == "app" }?["id"].stringValue ?? ""
            for change in [#"{"scopes":["admin"]}"#, #"{"apps":null}"#] {
                #expect(try await provider.api.call("PATCH", "/v1/keys/\(key)", Data(change.utf8)).status == 400)
            }
        }
    }
}
