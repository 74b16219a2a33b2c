import Foundation
import PushSupport
import PushTesting
import Testing

@Suite(.timeLimit(.patience)) struct KeyListPagesTests {
    @Test func aKeyIsIssuedAndShownOnce() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            try await browser.signInAsAdmin(at: provider)
            let page = try await browser.get("/dashboard/keys")
            #expect(page.status == 200)
            let fields = ["name": Browser.markup, "scopes": "read", "apps": Vectors.bundleID, "days": "30"]
            let added = try await browser.post("/dashboard/keys", fields, from: page)
            let key = try #require(added.text.firstMatch(of: #/<code id="secret">(mk_[^<]+)</#)).1
            let list = try await browser.get("/dashboard/keys")
            #expect(!list.contains(String(key)) && !list.hasMarkup && list.contains(Vectors.bundleID))
            let other = Browser(origin: provider.api.baseURL)
            #expect(try await other.signIn(key: String(key)).status == 200)
            try await other.end()
        }
    }

    @Test func aKeyIsChangedInPlace() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            try await browser.signInAsAdmin(at: provider)
            let made = try await provider.api.post(
                "/v1/keys",
                ["name": "<i>old", "scopes": ["read"], "expiresIn": 86400]
            )
            let id = try #require(made.json["id"].stringValue)
            let page = try await browser.get("/dashboard/keys/\(id)")
            #expect(page.status == 200 && page.contains("value=\"&lt;i&gt;old\"") && !page.contains("<i>old"))
            #expect(page.contains("value=\"read\" checked"))
            let fields = ["name": "new", "scopes": "send", "apps": Vectors.bundleID, "days": "keep", "rate": "7"]
            let changed = try await browser.post("/dashboard/keys/\(id)/edit", fields, from: page)
            #expect(changed.path.hasPrefix("/dashboard/keys?done"))
            let keys = try await provider.api.get("/v1/keys").json["keys"].elements
            let key = try #require(keys.first { $0["id"].stringValue == id })
            #expect(key["name"] == "new" && key["scopes"] == ["send"] && key["apps"] == [.string(Vectors.bundleID)])
            #expect(key["rate"] == 7 && key["expiresAt"] != .null)
            let ever = try await browser.post(
                "/dashboard/keys/\(id)/edit",
                ["name": "new", "scopes": "send", "reach": "all", "days": ""],
                from: page
            )
            #expect(ever.status == 200)
            let after = try await provider.api.get("/v1/keys").json["keys"].elements.first {
                $0["id"].stringValue == id
            }
            #expect(after?["expiresAt"] == .null && after?["apps"] == .null && after?["rate"] == .null)
        }
    }

    @Test func aFormKeepsWhatAnotherPersonChangedMeanwhile() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            try await browser.signInAsAdmin(at: provider)
            let made = try await provider.api.post("/v1/keys", ["name": "old", "scopes": ["send"], "rate": 7])
            let id = try #require(made.json["id"].stringValue)
            let page = try await browser.get("/dashboard/keys/\(id)")
            let limit: JSONValue = ["scopes": ["read"], "apps": [.string(Vectors.bundleID)], "rate": 5]
            #expect(try await provider.api.call("PATCH", "/v1/keys/\(id)", limit.text).status == 200)
            // The form is as it was shown, but for the name and the expiry.
            let fields = [
                "name": "new", "scopes": "send", "reach": "all", "rate": "7", "days": "30",
                "was": try #require(page.hidden("was")),
            ]
            let saved = try await browser.post("/dashboard/keys/\(id)/edit", fields, from: page)
            #expect(saved.path.hasPrefix("/dashboard/keys?done"))
            let keys = try await provider.api.get("/v1/keys").json["keys"].elements
            let key = try #require(keys.first { $0["id"].stringValue == id })
            #expect(key["name"] == "new" && key["expiresAt"] != .null)
            #expect(key["scopes"] == ["read"] && key["apps"] == [.string(Vectors.bundleID)] && key["rate"] == 5)
        }
    }

    @Test func aChangeThatIsRefusedStaysInTheForm() async throws {
        try await withDashboard { provider, browser in
            try await browser.signInAsAdmin(at: provider)
            let id = try #require(try await provider.api.get("/v1/key").json["id"].stringValue)
            let page = try await browser.get("/dashboard/keys/\(id)")
            let path = "/dashboard/keys/\(id)/edit"
            let fields = ["name": "typed", "scopes": "read", "reach": "all", "days": "keep"]
            let last = try await browser.post(path, fields, from: page)
            #expect(
                last.status == 409 && last.contains("could not be administered") && last.contains("value=\"typed\"")
            )
            let none = try await browser.post(path, ["name": "typed", "reach": "all", "days": "keep"], from: page)
            #expect(none.status == 400 && none.contains("key-scopes-problem"))
            #expect(try await browser.get("/dashboard/keys/\(UUID().uuidString)").status == 404)
        }
    }

    @Test func errorsAreAtTheFieldAndTheLastKeyStays() async throws {
        try await withDashboard { provider, browser in
            try await browser.signInAsAdmin(at: provider)
            let page = try await browser.get("/dashboard/keys")
            let none = try await browser.post("/dashboard/keys", ["name": "x"], from: page)
            #expect(none.status == 400 && none.contains("key-scopes-problem"))
            let days = try await browser.post(
                "/dashboard/keys",
                ["name": "x", "scopes": "read", "days": "x"],
                from: page
            )
            #expect(days.status == 400 && days.contains("key-days-problem"))
            let remove = try #require(page.text.firstMatch(of: #/action="([^"]+/remove)"/#)).1
            let last = try await browser.post(String(remove), [:], from: page)
            #expect(last.status == 409 && last.contains("could not be administered"))
        }
    }

    @Test func othersSeeNoKeysNoPeopleAndNoAudit() async throws {
        try await withDashboard { provider, browser in
            try await browser.signIn("read", "send", "operate", at: provider)
            let home = try await browser.get("/dashboard")
            for page in ["keys", "people", "audit"] {
                #expect(try await browser.get("/dashboard/\(page)").status == 403)
                #expect(!home.contains("href=\"/dashboard/\(page)\""))
            }
            for form in ["keys", "people"] {
                let fields = ["name": "x", "scopes": "admin", "role": "admin"]
                #expect(try await browser.post("/dashboard/\(form)", fields, from: home).status == 403)
            }
        }
    }
}
