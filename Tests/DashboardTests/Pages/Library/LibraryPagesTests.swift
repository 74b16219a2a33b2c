import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@Suite(.timeLimit(.patience)) struct LibraryPagesTests {
    private static let app = "/dashboard/apps/\(Vectors.bundleID)"

    private func withApp(_ body: @escaping @Sendable (RunningProvider, Browser) async throws -> Void) async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            _ = try await provider.register(DeviceToken.numbered(1).hex, ["user": "alice", "tags": ["beta"]])
            _ = try await browser.signIn(key: try #require(provider.api.apiKey))
            try await body(provider, browser)
        }
    }

    @Test func anAudienceIsCountedSavedChangedRestoredAndRemoved() async throws {
        try await self.withApp { provider, browser in
            #expect(try await browser.get("\(Self.app)/audiences").text.contains("martlet audience save"))
            let page = try await browser.get("\(Self.app)/audiences/new")
            var fields = ["name": "<b>\u{600}", "match": "all", "kind0": "tag", "operator0": "is", "value0": "beta"]
            let count = try await browser.post("\(Self.app)/audiences/preview", fields, from: page)
            #expect(count.text.contains(">1</strong> active devices now") && count.text.contains("alice"))
            let saved = try await browser.post("\(Self.app)/audiences/new", fields, from: page)
            #expect(saved.path.hasSuffix("?done=saved"))
            #expect(saved.text.contains("&lt;b&gt;\u{600}") && !saved.text.contains("<b>\u{600}"))
            let path = String(saved.path.prefix { $0 != "?" })
            (fields["value0"], fields["version"]) = ("alpha", "1")
            _ = try await browser.post(path, fields, from: page)
            let stale = try await browser.post(path, fields, from: page)
            #expect(stale.status == 409 && stale.text.contains("value=\"alpha\""))
            let unseen = try await browser.post("\(path)/restore", ["version": "1", "itemVersion": "1"], from: page)
            #expect(unseen.status == 409)
            let present = try await browser.get(path)
            #expect(present.hidden("itemVersion") == "2")
            let restore = ["version": "1", "itemVersion": "2"]
            let restored = try await browser.post("\(path)/restore", restore, from: page)
            #expect(restored.text.contains("value=\"beta\""))
            let compose = try await browser.get("\(Self.app)/notifications/new")
            #expect(compose.text.contains("name=\"named\""))
            let list = try await browser.post("\(path)/delete", [:], from: page)
            #expect(list.path.hasPrefix("\(Self.app)/audiences?") && !list.text.contains("&lt;b&gt;\u{600}"))
        }
    }

    @Test func rowsAndErrorsKeepWhatWasTyped() async throws {
        try await self.withApp { _, browser in
            let page = try await browser.get("\(Self.app)/audiences/new")
            let fields = ["name": "x", "kind0": "tag", "operator0": "is", "value0": "beta", "action": "add-condition"]
            let added = try await browser.post("\(Self.app)/audiences/new", fields, from: page)
            #expect(added.text.contains("name=\"kind1\"") && added.text.contains("value=\"beta\""))
            let bad = fields.merging(["action": "", "json": "{"]) { $1 }
            let refused = try await browser.post("\(Self.app)/audiences/new", bad, from: page)
            #expect(refused.status == 400 && refused.text.contains("id=\"field-json-problem\""))
            let unnamed = fields.merging(["action": "", "name": ""]) { $1 }
            let nameless = try await browser.post("\(Self.app)/audiences/new", unnamed, from: page)
            #expect(nameless.status == 400 && nameless.text.contains("id=\"field-name-problem\""))
        }
    }

    @Test func aTemplateIsWrittenPreviewedAndUsed() async throws {
        try await self.withApp { provider, browser in
            #expect(try await browser.get("\(Self.app)/templates").text.contains("martlet template save"))
            let page = try await browser.get("\(Self.app)/templates/new")
            let fields = ["name": "welcome", "title": "Hello", "body": "{{user|you}}", "variables": "yes"]
            let preview = fields.merging(["previewUser": "alice"]) { $1 }
            let part = try await browser.post("\(Self.app)/templates/preview", preview, from: page)
            #expect(part.text.contains(">alice</p>"))
            #expect(!part.text.contains("recipients now"))
            let saved = try await browser.post("\(Self.app)/templates/new", fields, from: page)
            #expect(saved.path.hasSuffix("?done=saved"))
            let id = String(saved.path.prefix { $0 != "?" }.split(separator: "/").last ?? "")
            let compose = try await browser.get("\(Self.app)/notifications/new?template=\(id)")
            #expect(compose.text.contains("value=\"Hello\"") && compose.text.contains("{{user|you}}"))
            let bad = try await browser.post("\(Self.app)/templates/\(id)", ["badge": "x", "body": "b"], from: page)
            #expect(bad.status == 400 && bad.text.contains("id=\"field-badge-problem\""))
        }
    }

    @Test func aCallerForOtherAppsGetsNoForm() async throws {
        try await self.withApp { provider, browser in
            _ = try await provider.api.post("/v1/apps", ["bundleId": "com.example.Other"])
            for path in ["audiences/new", "templates/new", "notifications/new"] {
                #expect(try await browser.get("/dashboard/apps/com.example.None/\(path)").status == 404, "\(path)")
            }
            let body: JSONValue = ["name": "other", "scopes": ["read", "send"], "apps": ["com.example.Other"]]
            let key = try await provider.api.post("/v1/keys", body).json["key"]
            browser.setCookie(nil)
            _ = try await browser.signIn(key: try #require(key.stringValue))
            for path in ["audiences/new", "templates/new", "notifications/new"] {
                #expect(try await browser.get("\(Self.app)/\(path)").status == 403, "\(path)")
                #expect(try await browser.get("/dashboard/apps/com.example.Other/\(path)").status == 200)
            }
        }
    }

    @Test func longContentsAreCutInTheList() async throws {
        try await self.withApp { provider, browser in
            let tag = String(repeating: "t", count: 180)
            let audience: JSONValue = ["or": [["tag": .string(tag)], ["tag": "second"]]]
            let path = "/v1/apps/\(Vectors.bundleID)/audiences"
            #expect(try await provider.api.post(path, ["name": "long", "audience": audience]).status == 201)
            let list = try await browser.get("\(Self.app)/audiences")
            #expect(list.contains("\(tag)&quot;},{&quot;…</td>") && !list.contains("second"))
        }
    }

    @Test func aReaderChangesNothing() async throws {
        try await self.withApp { provider, browser in
            let key = try await provider.api.post("/v1/keys", ["name": "viewer", "scopes": ["read"]]).json["key"]
            browser.setCookie(nil)
            _ = try await browser.signIn(key: try #require(key.stringValue))
            for kind in ["audiences", "templates"] {
                let list = try await browser.get("\(Self.app)/\(kind)")
                #expect(list.status == 200 && !list.text.contains("\(kind)/new"))
                #expect(try await browser.get("\(Self.app)/\(kind)/new").status == 403)
                #expect(try await browser.get("\(Self.app)/\(kind)/nothing").status == 404)
                let fields = ["name": "x", "body": "b", "kind0": "tag", "value0": "b"]
                #expect(try await browser.post("\(Self.app)/\(kind)/new", fields, from: list).status == 403)
            }
        }
    }
}
