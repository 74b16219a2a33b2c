import Foundation
import NIOCore
import ProviderAPI
import PushSupport
import PushTesting
import PushTypes
import Testing

/// The receipts of an app, from the request of an installation to what a back end sees.
@Suite(.timeLimit(.patience)) struct ReceiptsControllerTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"

    /// An installation with what it needs to send receipts.
    private struct Installation: Sendable {
        var api: JSONClient
        var secret: String
        var name = "installation-1"

        func send(_ body: JSONValue, secret: String? = nil) async throws -> JSONClient.Response {
            let path = "\(ReceiptsControllerTests.app)/installations/\(self.name)/receipts"
            return try await self.api.post(path, body, headers: ["installation-secret": secret ?? self.secret])
        }
    }

    private func withInstallation(
        receipts: String = "device",
        _ body: @escaping @Sendable (RunningProvider, ScriptedSender, Installation) async throws -> Void
    ) async throws {
        let sender = ScriptedSender()
        try await withProvider(senders: sender, configure: { $0.limits.publicKeyRate = 0 }) { provider in
            try await provider.addVectorsApp()
            let changed = try await provider.api.call(
                "PATCH",
                Self.app,
                try JSONValue.object(["receipts": .string(receipts)]).text
            )
            #expect(changed.json["receipts"] == .string(receipts))
            let key: JSONValue = ["name": "app", "scopes": ["registerSelf"], "apps": [.string(Vectors.bundleID)]]
            var api = provider.api
            api.apiKey = try await provider.api.post("/v1/keys", key).json["key"].stringValue
            let registered = try await api.put(
                "\(Self.app)/installations/installation-1",
                ["token": .string(DeviceToken.numbered(1).hex), "environment": "sandbox"]
            )
            let secret = try #require(registered.json["secret"].stringValue)
            try await body(provider, sender, Installation(api: api, secret: secret))
        }
    }

    private static func receipt(_ notification: JSONValue, _ event: String, _ more: [String: JSONValue] = [:])
        -> JSONValue
    {
        let members: [String: JSONValue] = [
            "id": .string(UUID().uuidString), "notification": notification, "event": .string(event),
            "at": "2026-11-22T09:30:00Z",
        ]
        return .object(members.merging(more) { $1 })
    }

    @Test func receiptsAreSeenWhereTheNotificationIs() async throws {
        try await self.withInstallation { provider, sender, installation async throws in
            let sent = try await provider.send(["to": ["all": true], "alert": "Hi"])
            let id = sent.json["id"]
            #expect(sent.json["receipts"] == "device")
            _ = try await provider.finished(sent)
            let payload = try JSONValue(
                parsing: Data(try #require(sender.sent.first).notification.payload.readableBytesView)
            )
            #expect(payload["martlet"] == ["id": id, "receipts": "device"])
            let receipts: [JSONValue] = [
                Self.receipt(id, "shown"), Self.receipt(id, "action", ["action": "REPLY"]),
                Self.receipt(.string(UUID().uuidString), "shown"), Self.receipt(id, "seen"), Self.receipt(id, "action"),
            ]
            let body: JSONValue = ["privacy": "device", "receipts": .array(receipts)]
            let answer = try await installation.send(body)
            #expect(answer.status == 200)
            #expect(answer.json["accepted"] == 2)
            #expect(
                answer.json["refused"].elements.map { $0["code"] }
                    == ["unknown_notification", "invalid_value", "invalid_value"]
            )
            #expect(answer.json["refused"].elements.map { $0["id"] } == receipts[2...].map { $0["id"] })
            let again = try await installation.send(body)
            #expect([again.json["accepted"], again.json["repeated"]] == [0, 2])

            let path = "/v1/notifications/\(id.stringValue ?? "")"
            let counts = try await provider.api.get(path).json["receiptCounts"].elements
            #expect(counts.map { $0["event"] } == ["shown", "action"])
            #expect(counts.map { $0["unique"] } == [1, 1])
            #expect(counts.last?["actions"].elements.map { $0["action"] } == ["REPLY"])
            let delivery = try #require(try await provider.deliveries(sent).first)
            #expect(delivery["receipts"].elements.count == 2)
            let shown = try await provider.api.get("/v1/deliveries/\(delivery["apnsId"].stringValue ?? "")")
            #expect(shown.json["receipts"] == delivery["receipts"])
            let history = "\(Self.app)/devices/\(DeviceToken.numbered(1).hex)/history"
            let deliveries = try await provider.api.get(history).json["deliveries"].elements
            #expect(deliveries.map { $0["receipts"] } == [delivery["receipts"]])

            let first = try await provider.api.get("\(path)/receipts?limit=1").json
            #expect(first["receipts"].elements.map { $0["event"] } == ["shown"])
            let next = try #require(first["next"].stringValue)
            let second = try await provider.api.get("\(path)/receipts?limit=2&cursor=\(next)").json
            #expect(second["receipts"].elements.map { $0["action"] } == ["REPLY"])
            let metrics = try await provider.api.get("/metrics").bodyText
            #expect(metrics.contains("martlet_receipts_total{"))
        }
    }

    @Test func receiptsAreExported() async throws {
        try await self.withInstallation { provider, _, installation async throws in
            let sent = try await provider.send(["to": ["all": true], "alert": "Hi"])
            _ = try await provider.finished(sent)
            let id = sent.json["id"]
            let receipts =
                ["shown", "opened"].map { Self.receipt(id, $0) }
                + [Self.receipt(id, "action", ["action": "=cmd,\"x\""])]
            _ = try await installation.send(["privacy": "device", "receipts": .array(receipts)])
            let path = "/v1/notifications/\(id.stringValue ?? "")/receipts:export"
            let lines = try await provider.api.get(path).bodyText.split(separator: "\n")
            let events = try lines.map { try JSONValue(parsing: Data($0.utf8))["event"] }
            #expect(events == ["shown", "opened", "action"])
            let csv = try await provider.api.get("\(path)?format=csv").bodyText
            let rows = csv.replacing("\r\n", with: "\n").split(separator: "\n")
            #expect(rows.first == "deviceId,event,action,source,at,receivedAt")
            #expect(rows.count == 4)
            #expect(rows.last?.contains(#""'=cmd,""x""""#) == true)
        }
    }

    @Test func onlyTheInstallationItselfReports() async throws {
        try await self.withInstallation { provider, _, installation async throws in
            let body: JSONValue = ["privacy": "device", "receipts": []]
            #expect(try await installation.send(body).status == 200)
            #expect(try await installation.send(body, secret: "wrong").code == "not_own_installation")
            var other = installation
            other.name = "installation-2"
            #expect(try await other.send(body).code == "not_own_installation")
            var admin = installation
            admin.api.apiKey = nil
            #expect(try await admin.send(body).status == 401)
        }
    }

    @Test(
        arguments: [
            (#"{}"#, "invalid_value"), (#"{"privacy":"device"}"#, "missing_field"),
            (#"{"privacy":"none","receipts":[]}"#, "invalid_value"),
            (#"{"privacy":"device","receipts":{}}"#, "wrong_type"),
            (#"{"privacy":"device","receipts":[1]}"#, "wrong_type"),
            (#"{"privacy":"device","receipts":[],"more":1}"#, "unknown_field"),
            (#"{"privacy":"device","receipts":[{"id":"x","notification":"y","event":"z","at":true}]}"#, "wrong_type"),
            (#"{"privacy":"device","receipts":[{"id":"","notification":"y","event":"z","at":1}]}"#, "invalid_value"),
            ("[", "invalid_json"), ("\u{0}", "invalid_json"),
        ]
    ) func aBodyOfAnotherShapeIsRejected(body: String, code: String) async throws {
        try await self.withInstallation { provider, _, installation async throws in
            let path = "\(Self.app)/installations/installation-1/receipts"
            var headers = ["installation-secret": installation.secret]
            headers["content-type"] = "application/json"
            let answer = try await installation.api.call("POST", path, Data(body.utf8), headers: headers)
            #expect(answer.status == 400)
            #expect(answer.code == code)
        }
    }

    @Test func garbageInReceiptsIsRefusedOneByOne() async throws {
        try await self.withInstallation { provider, _, installation async throws in
            let sent = try await provider.send(["to": ["all": true], "alert": "Hi"])
            let id = sent.json["id"]
            let garbage: [[String: JSONValue]] = [
                ["id": "x"], ["notification": "x"], ["event": "SHOWN"], ["at": "yesterday"], ["at": -1],
                ["at": .integer(.max)], ["action": "A"],
                ["event": "action", "action": .string(String(repeating: "é", count: 33))],
            ]
            let receipts = garbage.map { Self.receipt(id, "shown", $0) } + [Self.receipt(id, "shown")]
            let answer = try await installation.send(["privacy": "counts", "receipts": .array(receipts)])
            #expect(answer.json["accepted"] == 1)
            #expect(answer.json["refused"].elements.map { $0["code"] } == garbage.map { _ in "invalid_value" })
            let many = (0...100).map { _ in Self.receipt(id, "shown") }
            #expect(try await installation.send(["privacy": "counts", "receipts": .array(many)]).code == "too_many")
        }
    }

    @Test func theRequestAsksForMoreOrLess() async throws {
        try await self.withInstallation(receipts: "counts") { provider, _, installation async throws in
            for level in ["none", "counts", "device"] {
                let body: JSONValue = ["to": ["all": true], "alert": "Hi", "receipts": .string(level)]
                let preview = try await provider.api.post("\(Self.app)/notifications:preview", body).json
                #expect(preview["receipts"] == .string(level))
                #expect((preview["payload"]["martlet"] == .null) == (level == "none"))
                let sent = try await provider.send(body)
                #expect(sent.json["receipts"] == .string(level))
                let shown = try await provider.api.get("/v1/notifications/\(sent.json["id"].stringValue ?? "")")
                #expect(shown.json["receipts"] == .string(level))
            }
            let cleared = try await provider.api.call("PATCH", Self.app, try JSONValue.object(["receipts": .null]).text)
            #expect(cleared.json["receipts"] == "none")
            #expect(
                try await provider.api.call("PATCH", Self.app, try JSONValue.object(["receipts": "all"]).text).code
                    == "invalid_value"
            )
        }
    }
}

extension JSONClient.Response {
    fileprivate var bodyText: String { String(decoding: self.body, as: UTF8.self) }
}
