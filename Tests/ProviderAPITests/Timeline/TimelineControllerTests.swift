import Foundation
import PushHTTP
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI
@testable import PushProvider

/// `GET /v1/timeline`.
@Suite(.timeLimit(.patience)) struct TimelineControllerTests {
    @Test func aPushHasItsStepsFromTheRequestToTheDisk() async throws {
        let sender = ScriptedSender()
        try await withProvider(senders: sender) { provider in
            try await provider.addVectorsApp(in: [.sandbox])
            _ = try await provider.register(DeviceToken.numbered(1).hex, ["user": "alice"])
            let answer = try await provider.send(["to": ["user": "alice"], "alert": "Hi"])
            _ = try await provider.finished(answer)
            let id = try #require(sender.sent.first?.notification.id)
            let response = try await provider.api.get("/v1/timeline?apnsId=\(id)")
            #expect(response.status == 200)
            let timeline = try #require(response.json["timelines"].elements.first)
            #expect(timeline["kind"] == "delivery" && timeline["state"] == "accepted")
            #expect(timeline["apnsId"].stringValue == id)
            let steps = timeline["steps"].elements
            let events = steps.compactMap { $0["event"].stringValue }
            #expect(events.prefix(4) == ["requested", "checked", "accepted", "opened"])
            #expect(events.contains("claimed") && events.last == "committed")
            #expect(steps.first?["sinceMs"] == .null)
            #expect(steps.dropFirst().allSatisfy { ($0["sinceMs"].integerValue ?? -1) >= 0 })
            #expect(steps.first?["text"].stringValue?.contains("admin") == true, "the name of the key")
            #expect(!String(decoding: response.body, as: UTF8.self).contains(DeviceToken.numbered(1).hex))
            let notification = answer.json["id"].stringValue ?? ""
            let whole = try await provider.api.get("/v1/timeline?notification=\(notification)")
            let own = try #require(whole.json["timelines"].elements.first)
            #expect(own["kind"] == "notification" && own["state"] == "done")
            #expect(own["steps"].elements.last?["event"] == "finished")
        }
    }

    @Test func aTokenAndAUserHaveTheirNewestDeliveriesInPages() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp(in: [.sandbox])
            let token = DeviceToken.numbered(1).hex
            _ = try await provider.register(token, ["user": "alice"])
            var sent: [String] = []
            for _ in 1...5 {
                let answer = try await provider.send(["to": ["user": "alice"], "alert": "Hi"])
                _ = try await provider.finished(answer)
                sent.append(answer.json["id"].stringValue ?? "")
            }
            for subject in ["token=\(token)", "user=alice"] {
                var (seen, cursor) = ([String](), "")
                repeat {
                    let path = "/v1/timeline?\(subject)&app=\(Vectors.bundleID)&limit=2\(cursor)"
                    let page = try await provider.api.get(path)
                    #expect(page.status == 200)
                    let timelines = page.json["timelines"].elements
                    #expect(timelines.count <= 2)
                    seen += timelines.compactMap { $0["notification"].stringValue }
                    cursor = page.json["next"].stringValue.map { "&cursor=\($0)" } ?? ""
                } while !cursor.isEmpty && seen.count < 20
                #expect(seen == sent.reversed(), "\(subject)")
            }
            let nobody = try await provider.api.get("/v1/timeline?user=bob&app=\(Vectors.bundleID)")
            #expect(nobody.status == 200 && nobody.json["timelines"].elements.isEmpty)
        }
    }

    /// A push that waits for its next try is what is asked for most.
    @Test func whatWaitsForATryComesFirst() async throws {
        let sender = ScriptedSender()
        try await withProvider(senders: sender) { provider in
            try await provider.addVectorsApp(in: [.sandbox])
            let token = DeviceToken.numbered(1)
            _ = try await provider.register(token.hex, ["user": "alice"])
            _ = try await provider.finished(try await provider.send(["to": ["user": "alice"], "alert": "Hi"]))
            let later = Rejection(status: 503, reasonText: "ServiceUnavailable", retryAfter: .seconds(3600))
            sender.script(token, .rejected(later))
            let answer = try await provider.send(["to": ["user": "alice"], "alert": "Hi", "expiresIn": 86_400])
            var timelines: [JSONValue] = []
            while timelines.first?["state"] != "pending" {
                try Task.checkCancellation()
                let path = "/v1/timeline?user=alice&app=\(Vectors.bundleID)"
                timelines = try await provider.api.get(path).json["timelines"].elements
            }
            #expect(timelines.count == 2)
            #expect(timelines.first?["notification"] == answer.json["id"])
            let steps = timelines.first?["steps"].elements ?? []
            #expect(steps.suffix(2).compactMap { $0["event"].stringValue } == ["tried", "waits"])
            #expect(steps.dropLast().last?["text"].stringValue?.contains("ServiceUnavailable") == true)
            // A page has no more than its limit, and the next one continues with those that have a state.
            let path = "/v1/timeline?user=alice&app=\(Vectors.bundleID)&limit=1"
            let first = try await provider.api.get(path).json
            #expect(first["timelines"].elements.map { $0["notification"] } == [answer.json["id"]])
            let next = try #require(first["next"].stringValue)
            let second = try await provider.api.get("\(path)&cursor=\(next)").json
            #expect(second["timelines"].elements.map { $0["state"] } == ["accepted"])
        }
    }

    /// Times of a wrong clock, or of a gateway that says anything.
    @Test func timesFarApartAreNoOverflow() {
        let times = [Int64.min, -1, 0, .max].map(Timestamp.init(milliseconds:))
        let timeline = Timeline(
            kind: .delivery,
            notification: UUID(),
            state: "accepted",
            steps: times.map { TimelineStep($0, .gateway, .reported, "event") }
        )
        let steps = TimelineResponse(timeline: timeline).json["steps"].elements
        #expect(steps.map { $0["sinceMs"].integerValue } == [nil, .max, 1, .max])
    }

    @Test(arguments: [
        ("", "invalid_value"), ("?apnsId=x", "no_such_delivery"), ("?notification=x", "no_such_notification"),
        ("?apnsId=\(UUID().uuidString)", "no_such_delivery"), ("?apnsId=", "no_such_delivery"),
        ("?notification=\(UUID().uuidString)", "no_such_notification"),
        ("?apnsId=x&notification=y", "invalid_value"), ("?token=ab", "missing_field"), ("?user=a", "missing_field"),
        ("?token=xyz&app=\(Vectors.bundleID)", "invalid_token"), ("?user=&app=\(Vectors.bundleID)", "invalid_value"),
        ("?user=a&app=com.example.Missing", "no_such_app"), ("?user=a&app=%00", "invalid_value"),
        ("?user=a%00&app=\(Vectors.bundleID)", "invalid_value"),
        ("?user=a&app=\(Vectors.bundleID)&limit=0", "invalid_value"),
        ("?user=a&app=\(Vectors.bundleID)&limit=21", "invalid_value"),
        ("?user=a&app=\(Vectors.bundleID)&limit=many", "invalid_value"),
        ("?user=a&app=\(Vectors.bundleID)&cursor=x", "invalid_cursor"),
        ("?apnsId=x&limit=3", "conflicting_field"), ("?notification=x&app=y", "conflicting_field"),
    ])
    func garbageHasAClearAnswer(query: String, code: String) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp(in: [.sandbox])
            let response = try await provider.api.get("/v1/timeline\(query)")
            #expect(response.code == code, "\(query)")
            #expect((400...404).contains(response.status), "\(query)")
            #expect(response.json["error"]["message"].stringValue?.isEmpty == false, "\(query)")
        }
    }

    /// A gateway that does not respond is a note, and delays nothing for long.
    @Test func aGatewayThatIsAwayIsANote() async throws {
        let sender = ScriptedSender()
        let port = try RefusingPort()
        try await withProvider(
            senders: sender,
            configure: { $0.gatewayEvents = GatewayEventClient(url: "http://127.0.0.1:\(port.number)") }
        ) { provider in
            try await provider.addVectorsApp(in: [.sandbox])
            _ = try await provider.register(DeviceToken.numbered(1).hex)
            _ = try await provider.finished(try await provider.send(["to": ["all": true], "alert": "Hi"]))
            let id = try #require(sender.sent.first?.notification.id)
            let response = try await provider.api.get("/v1/timeline?apnsId=\(id)")
            let notes = response.json["timelines"].elements.first?["notes"].elements.compactMap(\.stringValue) ?? []
            #expect(notes.contains { $0.contains("127.0.0.1:\(port.number)") })
        }
    }
}
