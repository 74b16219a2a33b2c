import Foundation
import ProviderAPI
import PushSupport
import PushTesting
import Testing

/// Devices, audiences, history and badges.
@Suite(.timeLimit(.patience)) struct DevicesControllerTests {
    static let app = "/v1/apps/\(Vectors.bundleID)"

    private static func token(_ number: Int) -> String { String(format: "%064x", number) }

    @Test func aBatchTellsOfEachEntry() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let body: JSONValue = [
                "devices": [
                    ["token": .string(Self.token(1)), "tags": ["a"]], ["token": "not a token"], "text",
                    ["token": .string(Self.token(2)), "colour": "red"], ["token": .string(Self.token(1)), "user": "u"],
                ]
            ]
            let response = try await provider.api.post("\(Self.app)/devices:batch", body)
            #expect(response.status == 200)
            let results = response.json["results"].elements
            #expect(
                results.map { $0["result"].stringValue } == ["added", "refused", "refused", "refused", "refreshed"]
            )
            #expect(results[1]["error"]["field"] == "devices[1].token")
            #expect(results[3]["error"]["code"] == "unknown_field")
            #expect(results[4]["id"] == results[0]["id"])
            #expect(try await provider.api.get("\(Self.app)/devices").json["devices"].elements.count == 1)
        }
    }

    @Test(arguments: ["{}", #"{"devices":[]}"#, #"{"devices":1}"#, "[]", ""])
    func anInvalidBatchIsRejected(body: String) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            #expect(try await provider.api.call("POST", "\(Self.app)/devices:batch", Data(body.utf8)).status == 400)
        }
    }

    @Test func aListContinuesWithItsCursorAndEndsWithoutOne() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            for number in 1...5 { _ = try await provider.register(Self.token(number), ["tags": ["t"]]) }
            var found: [JSONValue] = []
            var cursor = ""
            var pages = 0
            while pages < 5 {
                let page = try await provider.api.get("\(Self.app)/devices?tag=t&limit=2\(cursor)").json
                found += page["devices"].elements.map { $0["token"] }
                pages += 1
                guard let next = page["next"].stringValue else { break }
                cursor = "&cursor=\(next)"
            }
            #expect(pages == 3)
            #expect(found == (1...5).map { .string(Self.token($0)) })
        }
    }

    /// Garbage, of another list, with another position than it says.
    @Test(arguments: [
        "x", "", "bjE", "ZDE=", "ZCsx", "ZDk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5", String(repeating: "A", count: 100),
    ])
    func aWrongCursorIsRejected(cursor: String) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let response = try await provider.api.get("\(Self.app)/devices?cursor=\(cursor)")
            #expect(response.status == 400)
            #expect(response.code == "invalid_cursor")
        }
    }

    @Test(arguments: ["colour=red", "limit=1&limit=2", "after=1", "limit", "=", "environment=moon"])
    func aQueryThatIsNotKnownIsRejected(query: String) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            #expect(try await provider.api.get("\(Self.app)/devices?\(query)").status == 400)
        }
    }

    @Test func anAudienceIsCountedAndShown() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            for number in 1...3 {
                _ = try await provider.register(
                    Self.token(number),
                    ["tags": number == 1 ? ["a", "b"] : ["a"], "attributes": ["level": .integer(Int64(number))]]
                )
            }
            let both: JSONValue = ["audience": ["and": [["tag": "a"], ["not": ["tag": "b"]]]], "limit": 1]
            let preview = try await provider.api.post("\(Self.app)/audience:preview", both)
            #expect(preview.json["count"] == 2)
            #expect(preview.json["devices"].elements.map { $0["token"] } == [.string(Self.token(2))])
            _ = try await provider.register(Self.token(4), ["environment": "production", "tags": ["a"]])
            let production: JSONValue = ["audience": ["tag": "a"], "environment": "production", "limit": 1]
            let other = try await provider.api.post("\(Self.app)/audience:preview", production)
            #expect(other.json["count"] == 1)
            #expect(other.json["devices"].elements.map { $0["token"] } == [.string(Self.token(4))])
            let level: JSONValue = ["audience": ["attribute": "level", "atLeast": 2], "environment": "sandbox"]
            #expect(try await provider.api.post("\(Self.app)/audience:count", level).json == ["count": 2])
            let wrong = try await provider.api.post("\(Self.app)/audience:count", ["audience": ["and": [["x": 1]]]])
            #expect(wrong.field == "audience.and[0].x")
        }
    }

    @Test func whatHappenedIsFoundByTokenUserAndID() async throws {
        let sender = ScriptedSender()
        try await withProvider(senders: sender) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, ["user": "a/ä b"])
            let response = try await provider.send(["to": ["user": "a/ä b"], "alert": "Hi"])
            _ = try await provider.finished(response)
            let stranger = try await provider.send(
                ["to": ["tokens": [.string(Vectors.tokenC)]], "environment": "sandbox", "alert": "Ho"]
            )
            _ = try await provider.finished(stranger)
            let byToken = try await provider.api.get("\(Self.app)/devices/\(Vectors.tokenA)/history").json
            let delivery = try #require(byToken["deliveries"].elements.first)
            #expect(delivery["notification"] == response.json["id"])
            let byUser = try await provider.api.get("\(Self.app)/users/a%2F%C3%A4%20b/history").json
            #expect(byUser["deliveries"].elements == [delivery])
            #expect(byUser["devices"].elements.count == 1)
            let campaign = try await provider.send(
                [
                    "to": ["tokens": [.string(Vectors.tokenA)]], "environment": "sandbox", "alert": "Hu",
                    "urgent": false,
                ]
            )
            _ = try await provider.finished(campaign)
            let all = try await provider.api.get("\(Self.app)/users/a%2F%C3%A4%20b/history").json
            #expect(
                Set(all["deliveries"].elements.map { $0["notification"].stringValue })
                    == [campaign.json["id"].stringValue, response.json["id"].stringValue]
            )
            #expect(all["deliveries"].elements.count == 2)
            let id = delivery["apnsId"].stringValue ?? ""
            #expect(try await provider.api.get("/v1/deliveries/\(id)").json == delivery)
            #expect(try await provider.api.get("/v1/deliveries/\(UUID().uuidString)").code == "no_such_delivery")
            let unregistered = try await provider.api.get("\(Self.app)/devices/\(Vectors.tokenC)/history").json
            #expect(unregistered["devices"] == [])
            #expect(unregistered["deliveries"].elements.first?["notification"] == stranger.json["id"])
        }
    }

    @Test(arguments: [1, 2, 3, 100])
    func aLongHistoryIsReadPageByPage(limit: Int) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            // Two devices of one user; one is suspected again and again, the other never.
            for number in 1...2 { _ = try await provider.register(Self.token(number), ["user": "alice"]) }
            var sent: [JSONValue] = []
            for number in 1...5 {
                let to: JSONValue =
                    number == 3
                    ? ["to": ["tokens": [.string(Self.token(1))]], "environment": "sandbox", "alert": "Hi"]
                    : ["to": ["user": "alice"], "alert": "Hi"]
                let response = try await provider.send(to)
                _ = try await provider.finished(response)
                sent += [JSONValue](repeating: response.json["id"], count: number == 3 ? 1 : 2)
            }
            _ = try await provider.api.delete("\(Self.app)/devices/\(Self.token(2))")
            var (seen, actions, pages): ([JSONValue], [JSONValue], Int) = ([], [], 0)
            var next: String? = ""
            while let cursor = next {
                let query = "?limit=\(limit)" + (cursor.isEmpty ? "" : "&cursor=\(cursor)")
                let page = try await provider.api.get("\(Self.app)/users/alice/history\(query)").json
                seen += page["deliveries"].elements.map { $0["notification"] }
                actions += page["tokenEvents"].elements.map { $0["action"] }
                next = page["next"].stringValue
                pages += 1
                try #require(pages < 20)
            }
            // What went to the device that is gone is the user's as before.
            #expect(seen == sent.reversed())
            #expect(actions == [])
            if limit == 100 { #expect(pages == 1) }
            let wrong = try await provider.api.get("\(Self.app)/users/alice/history?cursor=bjEy")
            #expect(wrong.code == "invalid_cursor")
            let deleted = try await provider.api.get("\(Self.app)/devices/\(Self.token(2))/history?limit=\(limit)").json
            #expect(deleted["tokenEvents"].elements.map { $0["action"] } == ["deleted"])
        }
    }

    @Test func aBadgeIsReadSetAndCountedOn() async throws {
        let sender = ScriptedSender()
        try await withProvider(senders: sender) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, ["user": "alice"])
            let path = "\(Self.app)/users/alice/badge"
            #expect(try await provider.api.get(path).json == ["count": 0])
            #expect(try await provider.api.put(path, ["count": 4]).json == ["count": 4])
            #expect(try await provider.api.put(path, ["count": -1]).field == "count")
            #expect(try await provider.api.put(path, [:]).field == "count")
            let response = try await provider.send(["to": ["user": "alice"], "badge": "+1", "alert": "Hi"])
            _ = try await provider.finished(response)
            #expect(try await provider.api.get(path).json == ["count": 5])
        }
    }
}
