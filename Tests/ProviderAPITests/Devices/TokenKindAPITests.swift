import Foundation
import ProviderModel
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

/// Kinds of tokens in the API: registration, lists, files, counts and sends.
@Suite(.timeLimit(.patience)) struct TokenKindAPITests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"
    private static let voip = DeviceToken.numbered(2).hex

    private func withDevices(_ body: @escaping @Sendable (RunningProvider) async throws -> Void) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, ["installation": "i", "user": "alice", "tags": ["beta"]])
            let voip = try await provider.register(Self.voip, ["installation": "i", "kind": "voip"])
            #expect(voip.status == 201)
            #expect(voip.json["kind"] == "voip")
            #expect(voip.json["user"] == "alice")
            try await body(provider)
        }
    }

    @Test func aRegistrationNamesItsKind() async throws {
        try await self.withDevices { provider in
            let update = try await provider.register(
                DeviceToken.numbered(3).hex,
                ["installation": "i", "activity": "order-42"]
            )
            #expect(update.json["kind"] == "liveActivityUpdate", "only these have an activity")
            #expect(update.json["activity"] == "order-42")
            let refused: [(members: [String: JSONValue], code: String, field: String)] = [
                (["kind": "VOIP"], "invalid_kind", "kind"), (["kind": "web"], "missing_field", "subscription"),
                (["kind": 7], "wrong_type", "kind"), (["kind": "liveActivityUpdate"], "missing_field", "activity"),
                (["kind": "voip", "activity": "a"], "conflicting_field", "activity"),
                (["activity": .string(String(repeating: "a", count: 257))], "too_long", "activity"),
            ]
            for (members, code, field) in refused {
                let response = try await provider.register(DeviceToken.numbered(9).hex, members)
                #expect(response.status == 400)
                #expect(response.code == code, "\(members)")
                #expect(response.field == field, "\(members)")
            }
            let list = try await provider.api.get("\(Self.app)/devices?kind=voip").json["devices"].elements
            #expect(list.map { $0["token"].stringValue } == [Self.voip])
            #expect(try await provider.api.get("\(Self.app)/devices?kind=x").status == 400)
        }
    }

    @Test func aFileKeepsTheKinds() async throws {
        try await self.withDevices { provider in
            _ = try await provider.register(DeviceToken.numbered(3).hex, ["installation": "i", "activity": "a,b"])
            for format in ["ndjson", "csv"] {
                let file = try await provider.api.get("\(Self.app)/devices:export?format=\(format)").body
                let other = "com.example.\(format)"
                _ = try await provider.api.post("/v1/apps", ["bundleId": .string(other)])
                let report = try await provider.api.call(
                    "POST",
                    "/v1/apps/\(other)/devices:import",
                    file,
                    headers: ["content-type": format == "csv" ? "text/csv" : "application/x-ndjson"]
                )
                #expect(report.json["added"] == 3, "\(format)")
                let devices = try await provider.api.get("/v1/apps/\(other)/devices").json["devices"].elements
                #expect(devices.map { $0["kind"].stringValue } == ["alert", "voip", "liveActivityUpdate"])
                #expect(devices.map { $0["activity"].stringValue } == [nil, nil, "a,b"])
                #expect(devices.map { $0["user"].stringValue } == ["alice", "alice", "alice"])
            }
        }
    }

    @Test func countsAndPreviewsAreOfOneKind() async throws {
        try await self.withDevices { provider in
            func count(_ members: [String: JSONValue]) async throws -> JSONValue {
                var body = members
                body["audience"] = ["tag": "beta"]
                return try await provider.api.post("\(Self.app)/audience:count", .object(body)).json["count"]
            }
            #expect(try await count([:]) == 1)
            #expect(try await count(["kind": "voip"]) == 1)
            #expect(try await count(["kind": "widgets"]) == 0)
            let preview = try await provider.api.post(
                "\(Self.app)/notifications:preview",
                ["to": ["tag": "beta"], "pushType": "widgets", "contentChanged": true]
            )
            #expect(preview.json["recipients"] == 0)
            let warning = preview.json["warnings"].elements.first { $0["field"] == "pushType" }
            #expect(warning?["message"].stringValue?.contains("register one with that kind") == true)
        }
    }

    @Test func whatCannotReachAnybodyIsRefused() async throws {
        try await self.withDevices { provider in
            let widgets: [String: JSONValue] = ["pushType": "widgets", "contentChanged": true]
            func send(_ to: JSONValue, _ more: [String: JSONValue]) async throws -> JSONClient.Response {
                var body = more
                body["to"] = to
                return try await provider.send(.object(body))
            }
            let nobody = try await send(["all": true], widgets)
            #expect(nobody.status == 409)
            #expect(nobody.code == "no_token_of_kind")
            #expect(nobody.json["error"]["message"].stringValue?.contains("kind widgets") == true)
            // Later there may be some.
            let tomorrow = SystemTime().now.advanced(by: .seconds(86_400)).milliseconds
            let later = try await send(["all": true], widgets.merging(["when": ["at": .integer(tomorrow)]]) { $1 })
            #expect(later.status == 202)
            #expect(later.json["warnings"].elements.contains { $0["field"] == "pushType" })
            // An audience that has tokens of the kind, and matches none of them, is not refused.
            #expect(try await send(["tag": "none"], ["alert": "Hi"]).status == 202)
            let tokens: JSONValue = [
                "tokens": [.string(Vectors.tokenA), .string(Vectors.tokenA), .string(Self.voip)]
            ]
            let named = try await send(tokens, ["alert": "Hi", "environment": "sandbox"])
            #expect(named.status == 409)
            #expect(named.code == "token_of_other_kind")
            #expect(named.field == "to.tokens[2]", "its position in the request, where one occurs twice")
            #expect(named.json["error"]["message"].stringValue?.contains("voip") == true)
            #expect(!String(decoding: named.body, as: UTF8.self).contains(Self.voip))
        }
    }

    @Test func onlyUpdatesGoToAnActivity() async throws {
        try await self.withDevices { provider in
            _ = try await provider.register(DeviceToken.numbered(3).hex, ["installation": "i", "activity": "order-42"])
            func send(_ to: JSONValue, event: String) async throws -> JSONClient.Response {
                var activity: [String: JSONValue] = ["event": .string(event), "contentState": ["s": 1]]
                if event == "start" {
                    activity.merge(["attributesType": "Order", "attributes": ["n": 1]]) { $1 }
                }
                return try await provider.send(["to": to, "liveActivity": .object(activity), "alert": "Order"])
            }
            let update = try await send(["activity": "order-42"], event: "update")
            #expect(try await provider.finished(update)["counters"]["accepted"] == 1)
            #expect(update.json["warnings"] == [])
            let ofUser = try await send(["user": "alice"], event: "end")
            #expect(ofUser.json["warnings"].elements.map { $0["field"] } == ["to"])
            #expect(try await send(["activity": "order-42"], event: "start").field == "to.activity")
            #expect(try await provider.send(["to": ["activity": "a"], "alert": "Hi"]).field == "to.activity")
            #expect(try await send(["all": true], event: "start").code == "no_token_of_kind")
        }
    }

    /// The first push to Alice is in flight, and the others wait in the same page for their turns. Meanwhile her phone
    /// gets one Live Activity too many, and the oldest one gives way (docs/decisions/0051).
    @Test func aPushToAnActivityThatGivesWayIsNotSent() async throws {
        let (sender, gate) = (ScriptedSender(), Gate())
        try await withProvider(senders: sender) { provider in
            defer { gate.open() }
            sender.onSend { _ in await gate.pass() }
            try await provider.addVectorsApp()
            func register(_ numbers: ClosedRange<Int>, _ installation: String) async throws -> JSONClient.Response {
                let devices = numbers.map { number -> JSONValue in
                    [
                        "token": .string(DeviceToken.numbered(number).hex), "environment": "sandbox", "user": "alice",
                        "installation": .string(installation), "activity": .string("order-\(number)"),
                    ]
                }
                return try await provider.api.post("\(Self.app)/devices:batch", ["devices": .array(devices)])
            }
            let (oldest, newest) = (2, 2 + DeviceLimits.activities)
            #expect(try await register(1...1, "tablet-of-alice").status == 200)
            #expect(try await register(oldest...newest - 1, "phone-of-alice").status == 200)
            let push: JSONValue = [
                "to": ["user": "alice"], "liveActivity": ["event": "update", "contentState": ["s": 1]],
                "environment": "sandbox", "urgent": false,
            ]
            let id = try #require(try await provider.send(push).json["id"].stringValue)
            try await eventually { !sender.sent.isEmpty }
            let registered = try await register(newest...newest, "phone-of-alice")
            #expect(registered.status == 200)
            #expect(registered.json["underWay"] == 0)
            gate.open()
            try await eventually {
                let counters = try await provider.api.get("/v1/notifications/\(id)").json["counters"]
                return counters["accepted"] == .integer(Int64(DeviceLimits.activities))
            }
            let others = ([1] + (oldest + 1..<newest)).map { DeviceToken.numbered($0).hex }
            #expect(sender.sent.map(\.token.hex).sorted() == others.sorted())
        }
    }

    @Test func deactivationsAreUndone() async throws {
        let sender = ScriptedSender()
        try await withProvider(senders: sender) { provider in
            try await provider.addVectorsApp()
            for number in 1...3 { _ = try await provider.register(DeviceToken.numbered(number).hex) }
            sender.always(.rejected(.init(status: 410, reasonText: "Unregistered")), in: .sandbox)
            _ = try await provider.finished(try await provider.send(["to": ["all": true], "alert": "Hi"]))
            func undo(_ members: [String: JSONValue]) async throws -> JSONClient.Response {
                try await provider.api.post("\(Self.app)/devices:reactivate", .object(members))
            }
            let wanted: [String: JSONValue] = ["from": 0, "reason": "Unregistered"]
            let dry = try await undo(wanted.merging(["dryRun": true]) { $1 })
            #expect(dry.json == ["devices": 3, "complete": true, "dryRun": true])
            #expect(try await undo(wanted).json == ["devices": 3, "complete": true, "dryRun": false])
            #expect(try await undo(wanted).json["devices"] == 0)
            let devices = try await provider.api.get("\(Self.app)/devices").json["devices"].elements
            #expect(devices.map { $0["state"] } == ["active", "active", "active"])
            #expect(try await undo([:]).field == "from")
            #expect(try await undo(["from": 5, "to": 5]).field == "to")
            #expect(try await undo(["from": "yesterday"]).code == "invalid_time")
            #expect(try await undo(["from": 0, "notification": "x"]).field == "notification")
            #expect(try await undo(["from": 0, "kind": "voip"]).status == 400)
            let audit = try await provider.api.get("/v1/audit").json["entries"].elements
            #expect(audit.contains { $0["action"].stringValue?.contains("devices:reactivate") == true })
        }
    }
}
