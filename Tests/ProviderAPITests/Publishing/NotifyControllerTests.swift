import Foundation
import NIOCore
import PushSender
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI

/// *Notify*: from the operation, and from the publisher's form.
@Suite(.timeLimit(.patience)) struct NotifyControllerTests {
    private static func register(
        _ fixture: PublishingFixture,
        _ number: Int,
        newsstand: Bool = true,
        account: String? = nil,
        environment: String = "production"
    ) async throws {
        let capabilities: JSONValue = newsstand ? ["alert", "newsstand"] : ["alert"]
        var body: [String: JSONValue] = ["environment": .string(environment), "capabilities": capabilities]
        if let account { body["attributes"] = ["accountId": .string(account)] }
        _ = try await fixture.provider.register(DeviceToken.numbered(number).hex, body)
    }

    private static func addIssue(_ fixture: PublishingFixture, _ product: String = "issue7") async throws -> String {
        let file = try await fixture.upload(Data("an issue".utf8))
        return try await fixture.addIssue(product, renditions: ["1024x768": file, "2048x1536": file])
    }

    @Test(arguments: [("issue7", "production"), ("dev_test.issue7", "sandbox")])
    func devicesWithNewsstandAreNotifiedOnce(product: String, environment: String) async throws {
        let sender = ScriptedSender()
        try await withPublishing(senders: sender) { fixture in
            let other = environment == "sandbox" ? "production" : "sandbox"
            try await Self.register(fixture, 1, environment: environment)
            try await Self.register(fixture, 2, newsstand: false, environment: environment)
            try await Self.register(fixture, 3, environment: other)
            // It was on, and is off now.
            try await Self.register(fixture, 4, environment: environment)
            try await Self.register(fixture, 4, newsstand: false, environment: environment)
            let id = try await Self.addIssue(fixture, product)
            let sent = try await fixture.api.post("/v1/issues/\(id):notify", [:])
            #expect(sent.status == 202 && sent.json["recipients"] == 1 && sent.json["pace"]["waves"]["size"] == 10_000)
            _ = try await fixture.provider.finished(sent)
            #expect(sender.sent.map(\.token.hex) == [DeviceToken.numbered(1).hex])
            let push = try #require(sender.sent.first).notification
            #expect(push.pushType == .background)
            let payload = try JSONValue(parsing: Data(push.payload.readableBytesView))
            let messageID = try #require(payload["Id"].integerValue)
            #expect(
                payload == ["aps": ["content-available": 1], "productId": .string(product), "Id": .integer(messageID)]
            )
            let again = try await fixture.api.call("POST", "/v1/issues/\(id):notify", nil)
            #expect(again.status == 200 && again.json["id"] == sent.json["id"])
            #expect(try await fixture.api.get("/v1/issues/\(id)").json["notification"] == sent.json["id"])
            let more = try await fixture.api.post("/v1/issues/\(id):notify", ["again": true])
            #expect(more.status == 202 && more.json["id"] != sent.json["id"])
            _ = try await fixture.provider.finished(more)
            #expect(sender.sent.count == 2)
        }
    }

    @Test func whoWakesNobodyIsWarnedAndLearnsThatItWasDone() async throws {
        let sender = ScriptedSender()
        try await withPublishing(senders: sender) { fixture in
            let id = try await Self.addIssue(fixture)
            let path = "/v1/issues/\(id):notify"
            let empty = try await fixture.api.post(path, [:])
            #expect(empty.status == 202 && empty.json["recipients"] == 0)
            #expect(empty.json["warnings"].elements.map { $0["field"] } == ["to"])
            try await Self.register(fixture, 1)
            let repeated = try await fixture.api.post(path, [:])
            #expect(repeated.status == 200 && repeated.json["id"] == empty.json["id"])
            #expect(repeated.json["warnings"].elements.map { $0["field"] } == ["again", "to"])
            let message = repeated.json["warnings"].elements.first?["message"].stringValue ?? ""
            #expect(message.hasPrefix("already notified at 20") && message.contains("again"))
            let again = try await fixture.api.post(path, ["again": true])
            #expect(again.status == 202 && again.json["warnings"] == [])
            _ = try await fixture.provider.finished(again)
            #expect(sender.sent.count == 1)
        }
    }

    @Test func thePreviewSaysWhatNotifyWouldDo() async throws {
        try await withPublishing { fixture in
            for number in 1...3 { try await Self.register(fixture, number, account: number == 3 ? "7" : nil) }
            let id = try await Self.addIssue(fixture)
            _ = try await fixture.api.call(
                "PATCH",
                "/v1/publications/\(fixture.publication)",
                Data(#"{"waves":{"size":2}}"#.utf8),
                headers: ["content-type": "application/json"]
            )
            let preview = try await fixture.api.post("/v1/issues/\(id):preview", [:]).json
            #expect(preview["devices"] == 3 && preview["waveCount"] == 2 && preview["environment"] == "production")
            #expect(preview["waves"]["size"] == 2 && preview["refusal"] == .null)
            let uncounted = try await fixture.api.post("/v1/issues/\(id):preview", ["counts": false]).json
            #expect(uncounted["devices"] == .null && uncounted["waves"]["size"] == 2)
            #expect(try await fixture.api.get("/v1/issues/\(id)").json["notification"] == .null)
            try await fixture.api.post("/v1/issues/\(id):withdraw", [:])
            let refused = try await fixture.api.post("/v1/issues/\(id):preview", [:])
            #expect(refused.status == 200 && refused.json["refusal"]["code"] == "issue_withdrawn")
            #expect(try await fixture.api.post("/v1/issues/\(UUID()):preview", [:]).status == 404)
        }
    }

    @Test func theNumberOfDevicesIsCountedOnceAMinute() async throws {
        let time = ManualTime()
        try await withPublishing(time: time) { fixture in
            try await Self.register(fixture, 1, account: nil)
            let id = try await Self.addIssue(fixture)
            let first = try await fixture.api.post("/v1/issues/\(id):preview", [:]).json
            try await Self.register(fixture, 2, account: nil)
            let second = try await fixture.api.post("/v1/issues/\(id):preview", [:]).json
            time.advance(by: .seconds(60))
            let third = try await fixture.api.post("/v1/issues/\(id):preview", [:]).json
            #expect([first, second, third].map { $0["devices"] } == [1, 1, 2])
        }
    }

    @Test func theDownloadsOfAnAppAreShown() async throws {
        let time = ManualTime()
        try await withPublishing(time: time) { fixture in
            #expect(try await fixture.api.get("\(PublishingFixture.app)/downloads").json == [:])
            time.advance(by: .seconds(11))
            let known = try await fixture.api.get("\(PublishingFixture.app)/downloads").json
            #expect(known == ["openDownloads": 0, "bytesPerSecond": 0])
        }
    }

    @Test func manyRequestsAtATimeMakeOneNotification() async throws {
        let sender = ScriptedSender()
        try await withPublishing(senders: sender) { fixture in
            try await Self.register(fixture, 1)
            let id = try await Self.addIssue(fixture)
            let ids = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<10 {
                    group.addTask { try await fixture.api.post("/v1/issues/\(id):notify", [:]).json["id"].stringValue }
                }
                return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
            }
            #expect(ids.count == 1)
            _ = try await fixture.provider.finished(try #require(ids.first ?? nil))
            #expect(sender.sent.count == 1)
        }
    }

    @Test func theAccountOfAPublicationBoundsItsDevices() async throws {
        let sender = ScriptedSender()
        try await withPublishing(senders: sender) { fixture in
            _ = try await fixture.api.call(
                "PATCH",
                "/v1/publications/\(fixture.publication)",
                Data(#"{"account":"A-1"}"#.utf8)
            )
            try await Self.register(fixture, 1, account: "A-1")
            try await Self.register(fixture, 2, account: "A-2")
            try await Self.register(fixture, 3)
            let sent = try await fixture.api.post("/v1/issues/\(try await Self.addIssue(fixture)):notify", [:])
            _ = try await fixture.provider.finished(sent)
            #expect(sender.sent.map(\.token.hex) == [DeviceToken.numbered(1).hex])
        }
    }

    @Test func anIssueThatNobodyCanDownloadIsRefusedWithTheReason() async throws {
        try await withPublishing { fixture in
            func code(_ id: String) async throws -> String? {
                let response = try await fixture.api.post("/v1/issues/\(id):notify", [:])
                #expect(response.status == 409)
                return response.code
            }
            let file = try await fixture.upload(Data("an issue".utf8))
            let draft = try await fixture.addIssue("a", renditions: ["1024x768": file], publishes: false)
            #expect(try await code(draft) == "issue_is_draft")
            #expect(try await code(try await fixture.addIssue("b")) == "no_rendition")
            let withdrawn = try await fixture.addIssue("c", renditions: ["1024x768": file])
            try await fixture.api.post("/v1/issues/\(withdrawn):withdraw", [:])
            #expect(try await code(withdrawn) == "issue_withdrawn")
            let retail = try await fixture.addIssue("d", access: "retail", renditions: ["1024x768": file])
            #expect(try await code(retail) == "nobody_entitled")
            #expect(try await fixture.api.post("/v1/issues/\(UUID().uuidString):notify", [:]).code == "no_such_issue")
            let garbage = try await fixture.api.call("POST", "/v1/issues/\(draft):notify", Data("{]".utf8))
            #expect(garbage.code == "invalid_json")
        }
    }

    @Test func theFormOfAKnownIssueIsTheSameNotification() async throws {
        let sender = ScriptedSender()
        try await withPublishing(senders: sender) { fixture in
            try await Self.register(fixture, 1)
            let id = try await Self.addIssue(fixture)
            let key: JSONValue = ["name": "editor@example.com", "scopes": ["send"]]
            let password = try await fixture.api.post("/v1/keys", key).json["key"].stringValue ?? ""
            let path = "/compat/publisher/\(Vectors.bundleID)/notify"
            let fields = [
                ("adobeID", "editor@example.com"), ("password", password), ("productId", "issue7"),
                ("Id", "1384500000000"), ("waveSize", "7"),
            ]
            let first = try await fixture.provider.post(path, fields)
            #expect(first.status == 200 && first.text.hasPrefix("OK "))
            let notification = String(first.text.split(separator: " ")[1])
            let shown = try await fixture.provider.finished(notification)
            #expect(shown["pace"]["waves"]["size"] == 7 && shown["pace"]["waves"]["intervalSeconds"] == 300)
            let payload = try JSONValue(
                parsing: Data(try #require(sender.sent.first).notification.payload.readableBytesView)
            )
            #expect(payload["Id"] == 1_384_500_000_000)
            #expect(try await fixture.api.post("/v1/issues/\(id):notify", [:]).json["id"].stringValue == notification)
            #expect(try await fixture.provider.post(path, fields).text == first.text)
            try await fixture.api.post("/v1/issues/\(id):withdraw", [:])
            let refused = try await fixture.provider.post(path, fields)
            #expect(refused.status == 409 && refused.text.hasPrefix("issue_withdrawn"))
        }
    }

    /// No device is woken for an issue that it cannot have.
    @Test func withdrawingEndsTheNotification() async throws {
        try await withPublishing(senders: ScriptedSender(), time: ManualTime()) { fixture in
            try await Self.register(fixture, 1)
            let steering: JSONValue = ["waves": ["steering": ["maximumDownloads": 5]]]
            _ = try await fixture.api.call("PATCH", "/v1/publications/\(fixture.publication)", try steering.text)
            let id = try await Self.addIssue(fixture)
            let sent = try await fixture.api.post("/v1/issues/\(id):notify", [:])
            let notification = try #require(sent.json["id"].stringValue)
            try await fixture.api.post("/v1/issues/\(id):withdraw", [:])
            let ended = try await fixture.api.get("/v1/notifications/\(notification)")
            #expect(ended.json["state"] == "cancelled" && ended.json["counters"]["accepted"] == 0)
        }
    }

    /// A page of devices is in memory when the issue is withdrawn: what is under way is counted, and no other is sent.
    @Test func withdrawingReachesWhatIsInMemory() async throws {
        let (sender, gate) = (ScriptedSender(), Gate())
        sender.onSend { _ in await gate.pass() }
        try await withPublishing(senders: sender) { fixture in
            defer { gate.open() }
            for number in 1...3 { try await Self.register(fixture, number) }
            let id = try await Self.addIssue(fixture)
            let sent = try await fixture.api.post("/v1/issues/\(id):notify", [:])
            let path = "/v1/notifications/\(try #require(sent.json["id"].stringValue))"
            try await eventually { !sender.sent.isEmpty }
            for _ in 1...2 {
                let withdrawn = try await fixture.api.post("/v1/issues/\(id):withdraw", [:])
                #expect(withdrawn.json["state"] == "withdrawn" && withdrawn.json["underWay"] == 1)
            }
            gate.open()
            var ended = try await fixture.api.get(path).json
            while ended["counters"]["accepted"] != 1 || ended["counters"]["failed"] != 2 {
                try Task.checkCancellation()
                ended = try await fixture.api.get(path).json
            }
            #expect(ended["state"] == "cancelled")
            #expect(sender.sent.count == 1)
            #expect(try await fixture.api.get("/v1/issues/\(id)").json["underWay"] == .null)
        }
    }

    /// A scheduler that lost the response calls again.
    @Test func theFormNotifiesOnceMoreForEachId() async throws {
        let sender = ScriptedSender()
        try await withPublishing(senders: sender) { fixture in
            try await Self.register(fixture, 1)
            let id = try await Self.addIssue(fixture)
            let first = try await fixture.api.post("/v1/issues/\(id):notify", [:])
            _ = try await fixture.provider.finished(first)
            let key: JSONValue = ["name": "editor", "scopes": ["send"]]
            let password = try await fixture.api.post("/v1/keys", key).json["key"].stringValue ?? ""
            func notify(_ fields: [(String, String)]) async throws -> (status: Int, text: String) {
                let form = [("adobeID", "editor"), ("password", password), ("productId", "issue7"), ("again", "1")]
                return try await fixture.provider.post("/compat/publisher/\(Vectors.bundleID)/notify", form + fields)
            }
            func sent(_ fields: [(String, String)]) async throws -> String {
                let response = try await notify(fields)
                #expect(response.status == 200)
                let notification = String(try #require(response.text.split(separator: " ").dropFirst().first))
                _ = try await fixture.provider.finished(notification)
                return notification
            }
            let second = try await sent([("Id", "2")])
            #expect(JSONValue.string(second) != first.json["id"])
            #expect(try await sent([("Id", "2")]) == second)
            let third = try await sent([("Id", "3")])
            #expect(third != second)
            // A late repetition is the old notification, and the issue keeps the new one.
            #expect(try await sent([("Id", "2")]) == second)
            #expect(try await fixture.api.get("/v1/issues/\(id)").json["notification"] == .string(third))
            let other = try await notify([("Id", "2"), ("waveSize", "7")])
            #expect(other.status == 409 && other.text.hasPrefix("idempotency_conflict"))
            #expect(sender.sent.count == 3)
            #expect(try await sent([]) != third)
        }
    }

    /// No caller can take the key of an issue's notification before it is sent.
    @Test func aCallersKeyIsNoneOfTheProvider() async throws {
        try await withPublishing { fixture in
            try await Self.register(fixture, 1)
            let id = try await Self.addIssue(fixture)
            for (key, status) in [("issue \(id) first", 400), ("issue:\(id):first", 202)] {
                let sent = try await fixture.provider.send(
                    ["to": ["all": true], "alert": "Hi"],
                    headers: ["idempotency-key": key]
                )
                #expect(sent.status == status, "\(key)")
                if status == 400 { #expect(sent.code == "invalid_idempotency_key") }
            }
            #expect(try await fixture.api.post("/v1/issues/\(id):notify", [:]).status == 202)
        }
    }

    @Test func aWaveWaitsForDownloadsAndSaysSo() async throws {
        let sender = ScriptedSender()
        try await withPublishing(senders: sender, time: ManualTime()) { fixture in
            try await Self.register(fixture, 1)
            let steering: JSONValue = ["waves": ["steering": ["maximumDownloads": 5]]]
            _ = try await fixture.api.call("PATCH", "/v1/publications/\(fixture.publication)", try steering.text)
            let id = try await Self.addIssue(fixture)
            // The figures of downloads are not known in the first ten seconds, which do not pass here.
            let sent = try await fixture.api.post("/v1/issues/\(id):notify", [:])
            let notification = sent.json["id"].stringValue ?? ""
            var shown = sent.json
            while shown["waitingFor"] == .null, shown["state"] != "done" {
                shown = try await fixture.api.get("/v1/notifications/\(notification)").json
            }
            #expect(shown["waitingFor"] == "figures" && shown["nextAtMs"] == .null && sender.sent.isEmpty)
            let metrics = String(decoding: try await fixture.api.get("/metrics").body, as: UTF8.self)
            #expect(metrics.contains(#"martlet_waves_waiting{cause="figures"} 1"#))
            let cancelled = try await fixture.api.post("/v1/notifications/\(notification):cancel", [:])
            #expect(cancelled.json["waitingFor"] == .null)
        }
    }
}
