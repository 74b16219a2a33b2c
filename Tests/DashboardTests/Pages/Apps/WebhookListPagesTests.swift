import Foundation
import PushSupport
import PushTesting
import Testing

@testable import Dashboard

@Suite(.timeLimit(.patience)) struct WebhookListPagesTests {
    private static let path = "/dashboard/apps/\(Vectors.bundleID)/webhooks"

    @Test func aWebhookIsAddedWithASecretThatIsShownOnce() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            try await browser.signInAsAdmin(at: provider)
            let empty = try await browser.get(Self.path)
            #expect(empty.contains("No webhook yet"))
            let url = "https://hooks.example.com/push"
            let added = try await browser.post(Self.path, ["url": url, "events": "token"], from: empty)
            #expect(added.status == 200)
            let secret = try #require(added.text.firstMatch(of: #/<code id="secret">([^<]+)</#)).1
            let link = try #require(added.text.firstMatch(of: #/href="([^"]+/webhooks/[^"]+)"/#)).1
            let one = try await browser.get(String(link))
            #expect(one.status == 200 && one.contains("hooks.example.com") && !one.contains(String(secret)))
            let rotated = try await browser.post("\(link)/rotate", [:], from: one)
            #expect(rotated.contains("The new secret"))
            let replayed = try await browser.post("\(link)/replay", ["since": "2026-01-01T00:00"], from: one)
            #expect(replayed.contains("The events are posted again."))
            let wrong = try await browser.post("\(link)/replay", [:], from: one)
            #expect(wrong.status == 400 && wrong.contains("problem-since"))
            let edited = try await browser.post("\(link)/edit", ["url": "http:bad", "events": "token"], from: one)
            #expect(edited.status == 400 && edited.contains("edit-url-problem"))
            #expect(try await browser.post("\(link)/finish-rotation", [:], from: one).contains("Saved."))
            #expect(try await browser.post("\(link)/remove", [:], from: one).contains("Removed."))
        }
    }

    @Test func unknownOperationsAndWebhooksOfOtherAppsAreNotFound() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            _ = try await provider.api.post("/v1/apps", ["bundleId": "com.example.Other"])
            let hook: JSONValue = ["url": "https://hooks.example.com/push"]
            let added = try await provider.api.post("/v1/apps/\(Vectors.bundleID)/webhooks", hook).json
            let id = try #require(added["id"].stringValue)
            try await browser.signInAsAdmin(at: provider)
            let page = try await browser.get("\(Self.path)/\(id)")
            #expect(page.status == 200)
            #expect(try await browser.post("\(Self.path)/\(id)/rotate", [:], from: page).status == 200)
            #expect(try await browser.post("\(Self.path)/\(id)/frobnicate", [:], from: page).status == 404)
            let other = "/dashboard/apps/com.example.Other/webhooks/\(id)"
            #expect(try await browser.get(other).status == 404)
            for form in ["edit", "test", "replay", "rotate", "enable", "finish-rotation", "remove"] {
                let fields = ["url": "https://evil.example.com", "events": "token", "block": "1"]
                #expect(try await browser.post("\(other)/\(form)", fields, from: page).status == 404, "\(form)")
            }
            let stored = try await provider.api.get("/v1/webhooks/\(id)").json
            #expect(stored["url"] == added["url"] && added["url"] != .null)
        }
    }

    @Test func errorsAreAtTheFieldAndAViewerSeesNone() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            try await browser.signInAsAdmin(at: provider)
            let page = try await browser.get(Self.path)
            let wrong = try await browser.post(Self.path, ["url": Browser.markup, "events": "token"], from: page)
            #expect(wrong.status == 400 && wrong.contains("add-url-problem") && !wrong.hasMarkup)
            try await browser.signIn("read", at: provider)
            #expect(try await browser.get(Self.path).status == 403)
            #expect(!(try await browser.get("/dashboard/apps/\(Vectors.bundleID)").contains("/webhooks")))
        }
    }
}
