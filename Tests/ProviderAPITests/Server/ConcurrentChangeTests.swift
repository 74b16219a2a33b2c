import ProviderAPI
import PushProvider
import PushSupport
import PushTesting
import Testing

/// Concurrent changes, and bounds on stored data.
@Suite(.timeLimit(.patience)) struct ConcurrentChangeTests {
    static let app = "/v1/apps/\(Vectors.bundleID)"

    @Test func changesOfAWebhookByTwoPeopleBothStay() async throws {
        try await withProvider(
            senders: ScriptedSender(),
            configure: { $0.webhookAddresses = .init(allowsPrivate: true) }
        ) {
            provider in
            try await provider.addVectorsApp()
            let added = try await provider.api.post("\(Self.app)/webhooks", ["url": "http://127.0.0.1:1/hook"])
            let path = "/v1/webhooks/\(added.json["id"].stringValue ?? "")"
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for number in 0..<30 {
                        let url = "http://127.0.0.1:1/hook/\(number)"
                        let body = try JSONValue.object(["url": .string(url)]).text
                        #expect(try await provider.api.call("PATCH", path, body).status == 200)
                        #expect(try await provider.api.get(path).json["url"].stringValue == url)
                    }
                }
                group.addTask {
                    for number in 0..<30 {
                        let body = try JSONValue.object(["active": .bool(number.isMultiple(of: 2))]).text
                        #expect(try await provider.api.call("PATCH", path, body).status == 200)
                        let found = try await provider.api.get(path).json["active"]
                        #expect(found == .bool(number.isMultiple(of: 2)))
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func aPauseIsNotUndoneByAReplacement() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let added = try await provider.api.post("\(Self.app)/schedules", Self.schedule("0"))
            let path = "/v1/schedules/\(added.json["id"].stringValue ?? "")"
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for number in 0..<30 {
                        let response = try await provider.api.put(path, Self.schedule("\(number)"))
                        #expect(response.status == 200)
                        #expect(try await provider.api.get(path).json["name"].stringValue == "\(number)")
                    }
                }
                group.addTask {
                    for number in 0..<30 {
                        let word = number.isMultiple(of: 2) ? "pause" : "resume"
                        #expect(try await provider.api.post("\(path):\(word)", [:]).status == 200)
                        let isPaused = try await provider.api.get(path).json["paused"]
                        #expect(isPaused == .bool(number.isMultiple(of: 2)))
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func schedulesComeInPagesAndLargeOnesWithoutTheirNotification() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            for number in 0..<5 {
                let more = String(repeating: "x", count: number == 2 ? 3000 : 1)
                let response = try await provider.api.post("\(Self.app)/schedules", Self.schedule("\(number)", more))
                #expect(response.status == 201)
            }
            var (found, cursor) = ([JSONValue](), String?.none)
            repeat {
                let query = "?limit=2" + (cursor.map { "&cursor=\($0)" } ?? "")
                let page = try await provider.api.get("\(Self.app)/schedules\(query)")
                #expect(page.status == 200)
                #expect(page.json["schedules"].elements.count <= 2)
                found += page.json["schedules"].elements
                cursor = page.json["next"].stringValue
            } while cursor != nil
            #expect(found.map { $0["name"].stringValue } == (0..<5).map { "\($0)" })
            #expect(found.map { $0["notification"] == .null } == [false, false, true, false, false])
            #expect((found[2]["notificationBytes"].integerValue ?? 0) > 3000)
            let whole = try await provider.api.get("/v1/schedules/\(found[2]["id"].stringValue ?? "")")
            #expect(whole.json["notification"] != .null)
            #expect(try await provider.api.get("\(Self.app)/schedules?limit=0").status == 400)
        }
    }

    @Test func anAppHasSoMuchInItsSchedules() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            // 800 kB of tokens each.
            let tokens = (0..<1000).map { JSONValue.string(String(repeating: "ab", count: 398) + "\($0 + 1000)") }
            let notification: JSONValue = ["to": ["tokens": .array(tokens)], "alert": "Tick"]
            let schedule: JSONValue = [
                "name": "large", "schedule": ["cron": "0 0 1 1 *", "timeZone": "UTC"], "notification": notification,
            ]
            var last: JSONClient.Response?
            for _ in 0..<30 where last?.status ?? 201 == 201 {
                last = try await provider.api.post("\(Self.app)/schedules", schedule)
            }
            #expect(last?.status == 409)
            #expect(last?.code == "schedules_too_large")
            let list = try await provider.api.get("\(Self.app)/schedules")
            #expect(list.json["schedules"].elements.count >= 16)
            #expect(list.body.count < 20_000)
        }
    }

    @Test func aDeviceThatWouldBeTooLargeIsRejectedByItself() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            func attributes(_ range: Range<Int>) -> JSONValue {
                .object(Dictionary(uniqueKeysWithValues: range.map { ("a\($0)", JSONValue.integer(1)) }))
            }
            let first = try await provider.register(Vectors.tokenA, ["attributes": attributes(0..<100)])
            #expect(first.status == 201)
            let more = try await provider.register(Vectors.tokenA, ["attributes": attributes(100..<101)])
            #expect(more.status == 400)
            #expect(more.code == "too_many")
            #expect(more.field == "attributes")
            let devices: [JSONValue] = [
                ["token": .string(String(repeating: "aabb01", count: 11)), "environment": "sandbox"],
                ["token": .string(Vectors.tokenA), "environment": "sandbox", "attributes": attributes(100..<101)],
                ["token": .string(String(repeating: "aabb02", count: 11)), "environment": "sandbox"],
            ]
            let batch = try await provider.api.post("\(Self.app)/devices:batch", ["devices": .array(devices)])
            let results = batch.json["results"].elements
            #expect(results.map { $0["result"].stringValue } == ["added", "refused", "added"])
            #expect(results[1]["error"]["field"].stringValue == "devices[1].attributes")
            let line: JSONValue = [
                "token": .string(Vectors.tokenA), "environment": "sandbox", "attributes": attributes(200..<201),
            ]
            let report = try await provider.api.call(
                "POST",
                "\(Self.app)/devices:import",
                try line.text,
                headers: ["content-type": "application/x-ndjson"]
            )
            #expect(report.json["refused"] == 1, "\(String(decoding: report.body, as: UTF8.self))")
        }
    }

    private static func schedule(_ name: String, _ text: String = "Tick") -> JSONValue {
        [
            "name": .string(name), "schedule": ["cron": "0 0 1 1 *", "timeZone": "UTC"],
            "notification": ["to": ["all": true], "alert": .string(text)],
        ]
    }
}
