import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@Suite(.timeLimit(.patience)) struct ComposeTests {
    private static let path = "/dashboard/apps/\(Vectors.bundleID)/notifications"

    private func withApp(_ body: @escaping @Sendable (RunningProvider, Browser) async throws -> Void) async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            for number in 0..<3 {
                let tags: JSONValue = number < 2 ? ["beta"] : []
                let members: [String: JSONValue] = [
                    "user": .string("user\(number)"), "tags": tags, "locale": number == 0 ? "de" : "en",
                ]
                _ = try await provider.register(DeviceToken.numbered(number).hex, members)
            }
            _ = try await browser.signIn(key: try #require(provider.api.apiKey))
            try await body(provider, browser)
        }
    }

    /// The fields of the form as a browser posts them, with some of them filled in.
    private static func form(_ page: Browser.Page, _ more: [String: String]) -> [String: String] {
        let key = page.text.firstMatch(of: #/name="key" value="([^"]+)"/#).map { String($0.1) } ?? ""
        return ["key": key, "audience": "tag", "when": "now", "body": "Hello"].merging(more) { $1 }
    }

    @Test func aCampaignAsksWithTheFigureAndIsSentOnce() async throws {
        try await self.withApp { provider, browser in
            let page = try await browser.get("\(Self.path)/new")
            #expect(page.status == 200)
            let fields = Self.form(page, ["title": "News", "tag": "beta", "locale": "de", "environment": "sandbox"])
            let question = try await browser.post("\(Self.path)/new", fields, from: page)
            #expect(question.status == 200)
            #expect(question.text.contains("This goes to 1 recipients at once."))
            #expect(question.text.contains("Send to 1 recipients"))
            #expect(question.text.contains("name=\"title\" value=\"News\""))
            #expect(try await provider.api.get("/v1/notifications").json["notifications"].elements.isEmpty)
            var confirmed = fields
            confirmed["action"] = "confirmed"
            let first = try await browser.post("\(Self.path)/new", confirmed, from: question)
            let second = try await browser.post("\(Self.path)/new", confirmed, from: question)
            #expect(first.status == 200 && first.path == second.path)
            #expect(first.text.contains("News"))
            let all = try await provider.api.get("/v1/notifications").json["notifications"].elements
            #expect(all.count == 1)
            #expect(all.first?["name"] == "News")
            #expect(all.first?["environment"] == "sandbox")
        }
    }

    @Test func aNotificationToOneUserIsSentAtOnce() async throws {
        try await self.withApp { _, browser in
            let page = try await browser.get("\(Self.path)/new")
            let fields = Self.form(page, ["audience": "user", "user": "user0"])
            let sent = try await browser.post("\(Self.path)/new", fields, from: page)
            #expect(sent.path.hasPrefix("\(Self.path)/"))
            #expect(sent.path.hasSuffix("?done=sent"))
        }
    }

    @Test func everybodyIsAskedForHoweverTheFormNamesThem() async throws {
        try await self.withApp { provider, browser in
            let page = try await browser.get("\(Self.path)/new")
            let tomorrow = Date.now.addingTimeInterval(86_400).formatted(.iso8601)
            let more = #"{"to":{"all":true},"environment":"sandbox","when":{"at":"\#(tomorrow)"}}"#
            let fields = Self.form(page, ["audience": "user", "user": "", "more": more])
            let question = try await browser.post("\(Self.path)/new", fields, from: page)
            #expect(question.status == 200 && question.contains("This will go to 3 recipients, counted now."))
            #expect(question.contains("<dd>{&quot;all&quot;:true}</dd>"))
            #expect(question.contains("<dd>\(tomorrow)</dd>"))
            #expect(try await provider.api.get("/v1/notifications").json["notifications"].elements.isEmpty)
        }
    }

    @Test func errorsStandAtTheirFieldAndKeepWhatWasTyped() async throws {
        try await self.withApp { _, browser in
            let page = try await browser.get("\(Self.path)/new")
            let cases: [(field: String, value: String)] = [
                ("expiresIn", "soon"), ("collapseId", String(repeating: "x", count: 65)), ("data", "{"), ("tag", ""),
            ]
            for (field, value) in cases {
                let fields = Self.form(page, ["tag": "beta", "body": "Kept <b>\u{600}"]).merging([field: value]) { $1 }
                let answer = try await browser.post("\(Self.path)/new", fields, from: page)
                #expect(answer.status == 400)
                #expect(answer.text.contains("id=\"field-\(field)-problem\""), "\(field)")
                #expect(answer.text.contains("Kept &lt;b&gt;\u{600}"))
                #expect(!answer.text.contains("<b>\u{600}"))
            }
        }
    }

    @Test func languagesAreAddedAndRemovedWithoutAScript() async throws {
        try await self.withApp { provider, browser in
            let page = try await browser.get("\(Self.path)/new")
            var fields = Self.form(page, ["audience": "user", "user": "user0", "action": "add-language"])
            let added = try await browser.post("\(Self.path)/new", fields, from: page)
            #expect(added.text.contains("name=\"language0\""))
            fields.merge(["language0": "de", "title0": "Hallo", "body0": "Welt", "action": "remove-language-0"]) { $1 }
            let removed = try await browser.post("\(Self.path)/new", fields, from: page)
            #expect(!removed.text.contains("name=\"language0\""))
            fields["action"] = "preview"
            fields["previewLocale"] = "de"
            let preview = try await browser.post("\(Self.path)/new", fields, from: page)
            #expect(preview.text.contains("<p class=\"lock-title\" dir=\"auto\">Hallo</p>"))
            fields["action"] = ""
            let sent = try await browser.post("\(Self.path)/new", fields, from: page)
            let id = String(sent.path.split(separator: "/").last?.prefix { $0 != "?" } ?? "")
            let stored = try await provider.api.get("/v1/notifications/\(id)").json
            #expect(stored["content"]["localizations"]["de"]["aps"]["alert"]["title"] == "Hallo")
        }
    }

    @Test func thePreviewIsAPartWithFiguresAndWarnings() async throws {
        try await self.withApp { _, browser in
            let page = try await browser.get("\(Self.path)/new")
            let fields = Self.form(page, ["tag": "beta", "title": "<script>\u{600}"])
            let part = try await browser.post("\(Self.path)/preview", fields, from: page)
            #expect(part.status == 200)
            #expect(!part.text.contains("<html"))
            #expect(part.text.contains("&lt;script&gt;\u{600}"))
            #expect(part.text.contains(">2</strong> recipients now"))
            let refused = try await browser.post("\(Self.path)/preview", Self.form(page, ["badge": "many"]), from: page)
            #expect(refused.text.contains("<code>badge</code>"))
        }
    }

    @Test func aLocalTimeIsThatOfEachDevice() async throws {
        try await self.withApp { provider, browser in
            let page = try await browser.get("\(Self.path)/new")
            let day = "\(Date.now.addingTimeInterval(172_800).formatted(.iso8601).prefix(10))"
            let fields = Self.form(page, ["tag": "beta", "when": "local", "at": "\(day)T09:00", "action": "confirmed"])
            let sent = try await browser.post("\(Self.path)/new", fields, from: page)
            #expect(sent.path.hasSuffix("?done=scheduled"))
            let stored = try await provider.api.get("/v1/notifications").json["notifications"].elements.first
            #expect(stored?["when"]["localTime"].stringValue?.hasPrefix("\(day)T09:00") == true)
            #expect(stored?["when"]["timeZone"] == "device")
        }
    }

    @Test func aViewerWritesNothing() async throws {
        try await self.withApp { provider, browser in
            let key = try await provider.api.post("/v1/keys", ["name": "viewer", "scopes": ["read"]]).json["key"]
            browser.setCookie(nil)
            _ = try await browser.signIn(key: try #require(key.stringValue))
            #expect(try await browser.get("\(Self.path)/new").status == 403)
            let list = try await browser.get(Self.path)
            #expect(list.status == 200)
            #expect(!list.text.contains("\(Self.path)/new"))
        }
    }
}
