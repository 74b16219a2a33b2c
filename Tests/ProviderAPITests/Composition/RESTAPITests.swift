import Foundation
import ProviderAPI
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

/// The REST API over a real port.
@Suite(.timeLimit(.patience)) struct RESTAPITests {
    static let app = "/v1/apps/\(Vectors.bundleID)"

    @Test func anAppIsCreatedOnceAndShown() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            let body: JSONValue = ["bundleId": .string(Vectors.bundleID), "name": "My app"]
            #expect(try await provider.api.post("/v1/apps", body).status == 201)
            #expect(try await provider.api.post("/v1/apps", body).status == 200)
            try await provider.addVectorsApp()
            let shown = try await provider.api.get(Self.app).json
            #expect(shown["name"] == "My app")
            #expect(shown["environments"] == ["production", "sandbox"])
            #expect(try await provider.api.get("/v1/apps").json["apps"] == [shown])
        }
    }

    @Test func aCredentialIsNeverShownAgain() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.api.post("/v1/apps", ["bundleId": .string(Vectors.bundleID)])
            let response = try await provider.api.put(
                "\(Self.app)/credentials/development",
                [
                    "teamId": .string(Vectors.teamID), "keyId": .string(Vectors.keyID),
                    "privateKey": .string(Vectors.privateKey),
                ]
            )
            #expect(response.status == 200)
            let shown: JSONValue = [
                "environment": "sandbox", "kind": "key", "teamId": "DEF123GHIJ", "keyId": "ABC123DEFG",
                "transport": "http2",
            ]
            #expect(response.json == shown)
        }
    }

    @Test(
        arguments: [
            (["teamId": "x", "keyId": "ABC123DEFG", "privateKey": "x"], "teamId"),
            (["teamId": "DEF123GHIJ", "keyId": "x", "privateKey": "x"], "keyId"),
            (["teamId": "DEF123GHIJ", "keyId": "ABC123DEFG", "privateKey": "x"], "privateKey"),
            (["teamId": "DEF123GHIJ", "keyId": "ABC123DEFG"], "privateKey"),
        ] as [(JSONValue, String)]
    )
    func aCredentialThatCannotWorkIsRejected(body: JSONValue, field: String) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.api.post("/v1/apps", ["bundleId": .string(Vectors.bundleID)])
            let response = try await provider.api.put("\(Self.app)/credentials/sandbox", body)
            #expect(response.status == 400)
            #expect(response.field == field)
        }
    }

    @Test func aDeviceIsRegisteredRefreshedFoundAndDeleted() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let first = try await provider.register(Vectors.tokenA, ["user": "alice", "tags": ["beta"]])
            #expect(first.status == 201)
            let second = try await provider.register("MCvTjMFq32yTg+iEi5HYla/MsqWl0dUkNfFMRwqnF2c=", ["locale": "de"])
            #expect(second.status == 200)
            #expect(second.json["id"] == first.json["id"])
            #expect(second.json["user"] == "alice")
            #expect(try await provider.api.get("\(Self.app)/devices?user=alice").json["devices"] == [second.json])
            #expect(try await provider.api.get("\(Self.app)/devices?tag=beta").json["devices"] == [second.json])
            #expect(try await provider.api.get("\(Self.app)/devices?tag=gamma").json["devices"] == [])
            let left = try await provider.register(Vectors.tokenA, ["user": .null])
            #expect(left.json["user"] == .null)
            #expect(left.json["locale"] == "de")
            #expect(left.json["underWay"] == 0, "it has left a user")
            #expect(try await provider.api.get("\(Self.app)/devices?user=alice").json["devices"] == [])
            let path = "\(Self.app)/devices/\(Vectors.tokenA)"
            let devices = try await provider.api.get(path).json["devices"].elements
            #expect(devices.map { $0["id"] } == [left.json["id"]])
            #expect(devices.first?["user"] == .null && devices.first?["locale"] == "de")
            #expect(try await provider.api.delete("\(path)?environment=production").status == 404)
            #expect(try await provider.api.delete(path).status == 204)
            #expect(try await provider.api.get(path).code == "no_such_device")
        }
    }

    @Test func aNotificationIsAcceptedSentAndAccountedFor() async throws {
        let sender = ScriptedSender()
        try await withProvider(senders: sender) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, ["tags": ["beta"]])
            _ = try await provider.register(Vectors.tokenC)
            let response = try await provider.send(["to": ["tag": "beta"], "alert": "Hi"])
            #expect(response.status == 202)
            #expect(response.headers["location"] == "/v1/notifications/\(response.json["id"].stringValue ?? "")")
            let end = try await provider.finished(response)
            #expect(
                end["counters"] == [
                    "accepted": 1, "rejected": 0, "failed": 0, "skipped": 0, "unknown": 0, "retrying": 0,
                ]
            )
            let delivery = try #require(try await provider.deliveries(response).first)
            #expect(delivery["token"] == "302bd38c… (32 bytes)")
            #expect(delivery["attempts"] == 1)
            #expect(sender.sent.map(\.token.hex) == [Vectors.tokenA])
            #expect(delivery["apnsId"].stringValue == sender.sent.first?.notification.id)
        }
    }

    @Test func anIdempotencyKeySendsOnce() async throws {
        let sender = ScriptedSender()
        try await withProvider(senders: sender) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA)
            let headers = ["idempotency-key": "order-42"]
            let first = try await provider.api.call(
                "POST",
                "\(Self.app)/notifications",
                Data(#"{"to":{"all":true},"alert":"Hi"}"#.utf8),
                headers: headers
            )
            let reordered = try await provider.api.call(
                "POST",
                "\(Self.app)/notifications",
                Data(#"{ "alert": "Hi", "to": {"all": true} }"#.utf8),
                headers: headers
            )
            #expect(reordered.status == 202)
            #expect(reordered.json["id"] == first.json["id"])
            #expect(reordered.headers["idempotency-replayed"] == "true")
            let other = try await provider.send(["to": ["all": true], "alert": "Ho"], headers: headers)
            #expect(other.status == 409)
            #expect(other.code == "idempotency_conflict")
            _ = try await provider.finished(first)
            #expect(sender.sent.count == 1)
        }
    }

    @Test func aRepetitionSucceedsAfterItsTime() async throws {
        let time = ManualTime()
        try await withProvider(senders: ScriptedSender(), time: time) { provider in
            try await provider.addVectorsApp()
            let at = time.now.advanced(by: .seconds(30))
            let body: JSONValue = ["to": ["all": true], "alert": "Hi", "when": ["at": .integer(at.milliseconds)]]
            let headers = ["idempotency-key": "order-43"]
            let first = try await provider.send(body, headers: headers)
            #expect(first.status == 202)
            time.advance(by: .seconds(120))
            for environment in PushEnvironment.allCases {
                let path = "\(Self.app)/credentials/\(environment.rawValue)"
                #expect(try await provider.api.delete(path).status == 200)
            }
            let again = try await provider.send(body, headers: headers)
            #expect(again.status == 202)
            #expect(again.json["id"] == first.json["id"])
            #expect(again.headers["idempotency-replayed"] == "true")
            #expect(try await provider.send(body).status == 400)
        }
    }

    @Test func withoutACredentialNothingIsAccepted() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.api.post("/v1/apps", ["bundleId": .string(Vectors.bundleID)])
            let response = try await provider.send(["to": ["all": true], "alert": "Hi"])
            #expect(response.status == 409)
            #expect(response.code == "missing_credential")
        }
    }

    @Test(arguments: [
        ("GET", "/nothing", 404, "not_found"), ("GET", "/v1/apps/unknown", 404, "no_such_app"),
        ("GET", "/v1/apps/%00%ff", 404, "not_found"), ("PATCH", "/v1/apps", 405, "method_not_allowed"),
        ("GET", "/v1/notifications/x", 404, "no_such_notification"), ("DELETE", "/v1/keys/x", 404, "no_such_key"),
        ("GET", "\(app)/devices/zz", 400, "invalid_token"), ("GET", "\(app)/devices?limit=0", 400, "invalid_value"),
        ("GET", "\(app)/devices?limit=99999999999999999999", 400, "invalid_value"),
        ("PUT", "\(app)/credentials/mars", 404, "invalid_environment"),
        ("POST", "\(app)/notifications", 400, "invalid_json"), ("POST", "\(app)/devices", 400, "invalid_json"),
    ])
    func errorsHaveOneShape(method: String, path: String, status: Int, code: String) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let response = try await provider.api.call(method, path, Data("\u{0}garbage{".utf8))
            #expect(response.status == status)
            #expect(response.code == code)
        }
    }

    @Test func aLargeBodyIsRejected() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let response = try await provider.api.call("POST", "\(Self.app)/notifications", Data(count: 2_000_000))
            #expect(response.status == 413)
            #expect(response.code == "body_too_large")
        }
    }

    @Test func aPortThatIsTakenIsNamed() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            let port = Int(provider.api.baseURL.split(separator: ":").last ?? "") ?? 0
            try await withTemporaryDirectory { directory in
                var configuration = ProviderConfiguration(dataDirectory: directory)
                configuration.port = port
                let second = try await ProviderServer(
                    configuration: configuration,
                    senders: ScriptedSender(),
                    logger: silentLogger
                )
                await #expect {
                    try await second.run()
                } throws: { error in
                    let words = "Address already in use"
                    return error as? ProviderError == .cannotListen(address: "127.0.0.1:\(port)", why: words)
                }
            }
        }
    }
}
