import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@Suite(.timeLimit(.patience)) struct NotificationListPagesTests {
    private static let path = "/dashboard/apps/\(Vectors.bundleID)/notifications"

    private func withApp(_ body: @escaping @Sendable (RunningProvider, Browser) async throws -> Void) async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            _ = try await provider.register(DeviceToken.numbered(1).hex, ["user": "alice"])
            _ = try await browser.signIn(key: try #require(provider.api.apiKey))
            try await body(provider, browser)
        }
    }

    @Test func theListIsEmptyThenFilteredByStateAndName() async throws {
        try await self.withApp { provider, browser in
            let empty = try await browser.get(Self.path)
            #expect(empty.text.contains("martlet send --app \(Vectors.bundleID)"))
            let sent = try await provider.send(["to": ["user": "alice"], "alert": "Hi", "name": "<i>\u{600}one"])
            _ = try await provider.finished(sent)
            _ = try await provider.send(["to": ["all": true], "alert": "Hi", "name": "two", "pace": ["rate": 1]])
            let list = try await browser.get(Self.path)
            #expect(list.text.contains("&lt;i&gt;\u{600}one") && list.text.contains(">two</a>"))
            let named = try await browser.get("\(Self.path)?name=two")
            #expect(named.text.contains(">two</a>") && !named.text.contains("one</a>"))
            let cancelled = try await browser.get("\(Self.path)?state=cancelled")
            #expect(!cancelled.text.contains(">two</a>"))
            let wrong = try await browser.get("\(Self.path)?state=nonsense")
            #expect(wrong.status == 200 && wrong.text.contains("id=\"problem-state\" lang=\"en\""))
            let key = try await browser.get("\(Self.path)?key=nonsense")
            #expect(key.status == 200 && key.text.contains("id=\"problem-key\""))
        }
    }

    @Test func theListIsSortedAndShowsWhoSentWhat() async throws {
        try await self.withApp { provider, browser in
            let other = try await provider.api.post("/v1/keys", ["name": "other key", "scopes": ["send", "read"]])
            let id = try #require(other.json["id"].stringValue)
            for name in ["b part", "a part", "c"] {
                _ = try await provider.send(["to": ["all": true], "alert": "Hi", "name": .string(name)])
            }
            let sorted = try await browser.get("\(Self.path)?sort=name&name=part").text
            #expect(sorted.contains("aria-sort=\"ascending\"><a href=\"\(Self.path)?name=part&amp;sort=name\""))
            let (first, second) = (sorted.range(of: ">a part</a>"), sorted.range(of: ">b part</a>"))
            #expect(try #require(first).lowerBound < #require(second).lowerBound && !sorted.contains(">c</a>"))
            let mine = try #require(try await provider.api.get("/v1/key").json["id"].stringValue)
            #expect(sorted.contains("?name=part&amp;key=\(mine)&amp;sort=name"))
            let byOther = try await browser.get("\(Self.path)?key=\(id)").text
            #expect(!byOther.contains(" part</a>") && byOther.contains("name=\"key\" value=\"\(id)\" checked"))
            let byMe = try await browser.get("\(Self.path)?key=\(mine)").text
            #expect(byMe.contains(">c</a>"))
        }
    }

    @Test func aNotificationIsPausedResumedAndCancelled() async throws {
        try await self.withApp { provider, browser in
            let when: JSONValue = ["at": .string(Date.now.addingTimeInterval(86_400).formatted(.iso8601))]
            let sent = try await provider.send(["to": ["all": true], "alert": "Hi", "name": "News", "when": when])
            let path = "\(Self.path)/\(try #require(sent.json["id"].stringValue))"
            let page = try await browser.get(path)
            #expect(page.text.contains("data-live=\"\(path)/live\""))
            #expect(page.text.contains("action=\"\(path)/pause\"") && !page.text.contains("action=\"\(path)/resend\""))
            let paused = try await browser.post("\(path)/pause", [:], from: page)
            #expect(paused.text.contains("state warn") && paused.text.contains("action=\"\(path)/resume\""))
            let resumed = try await browser.post("\(path)/resume", [:], from: page)
            #expect(resumed.text.contains("action=\"\(path)/pause\""))
            let cancelled = try await browser.post("\(path)/cancel", [:], from: page)
            #expect(!cancelled.text.contains("action=\"\(path)/cancel\"") && !cancelled.text.contains("data-live"))
            let again = try await browser.post("\(path)/pause", [:], from: page)
            #expect(again.status == 409 && again.text.contains("role=\"alert\""))
        }
    }

    @Test func deliveriesHaveTheirStateAndTimeline() async throws {
        try await self.withApp { provider, browser in
            let sent = try await provider.send(["to": ["user": "alice"], "alert": "Hi"])
            _ = try await provider.finished(sent)
            let path = "\(Self.path)/\(try #require(sent.json["id"].stringValue))"
            let page = try await browser.get(path)
            #expect(page.text.contains("/deliveries/"))
            #expect(page.text.contains("lock-body"))
            let rejected = try await browser.get("\(path)?state=rejected")
            #expect(!rejected.text.contains("/deliveries/"))
            let draft = try await browser.get("\(Self.path)/new?from=\(sent.json["id"].stringValue ?? "")")
            #expect(draft.text.contains("value=\"alice\""))
        }
    }

    @Test func anotherAppsNotificationIsNotFound() async throws {
        try await self.withApp { provider, browser in
            try await provider.api.post("/v1/apps", ["bundleId": "com.example.other"])
            let sent = try await provider.send(["to": ["user": "alice"], "alert": "Hi"])
            let id = try #require(sent.json["id"].stringValue)
            #expect(try await browser.get("/dashboard/apps/com.example.other/notifications/\(id)").status == 404)
            #expect(try await browser.get("\(Self.path)/nonsense").status == 404)
        }
    }

    @Test func aReaderSeesNoButtons() async throws {
        try await self.withApp { provider, browser in
            let sent = try await provider.send(["to": ["all": true], "alert": "Hi", "pace": ["rate": 1]])
            let key = try await provider.api.post("/v1/keys", ["name": "viewer", "scopes": ["read"]]).json["key"]
            browser.setCookie(nil)
            _ = try await browser.signIn(key: try #require(key.stringValue))
            let path = "\(Self.path)/\(try #require(sent.json["id"].stringValue))"
            let page = try await browser.get(path)
            #expect(page.status == 200 && !page.text.contains("\(path)/pause"))
            #expect(try await browser.post("\(path)/cancel", [:], from: page).status == 403)
        }
    }
}
