import Foundation
import PushSupport
import PushTesting
import Testing

@Suite(.timeLimit(.patience)) struct PersonListPagesTests {
    private static let password = "correct horse battery"

    @Test func aPersonIsInvitedChangedAndDisabled() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            try await browser.signInAsAdmin(at: provider)
            let page = try await browser.get("/dashboard/people")
            #expect(page.contains("martlet person add"))
            let anna = ["name": "anna", "role": "author", "reach": "all"]
            let added = try await browser.post("/dashboard/people", anna, from: page)
            let link = try #require(added.text.firstMatch(of: #/<code id="secret">[^<]*(\/dashboard\/link\/[^<]+)</#)).1
            let path = String(try #require(added.text.firstMatch(of: #/href="(\/dashboard\/people\/[^"]+)"/#)).1)
            let other = Browser(origin: provider.api.baseURL)
            let fields = ["password": Self.password, "again": Self.password]
            #expect(try await other.post(String(link), fields).path == "/dashboard")
            let person = try await browser.get(path)
            #expect(person.contains("Author") && person.contains("Sign out everywhere (1)"))
            let edited = try await browser.post(
                "\(path)/edit",
                ["role": "viewer", "apps": Vectors.bundleID],
                from: person
            )
            #expect(edited.contains("Saved.") && edited.contains("Viewer"))
            let wrong = try await browser.post("\(path)/edit", ["role": Browser.markup], from: person)
            #expect(wrong.status == 400 && wrong.contains("edit-role-problem") && !wrong.hasMarkup)
            #expect(try await browser.post("\(path)/disable", [:], from: person).contains("disabled"))
            #expect(try await other.get("/dashboard").path.hasPrefix("/dashboard/sign-in"))
            #expect(try await browser.post("\(path)/enable", [:], from: person).contains("active"))
            #expect(try await browser.post("\(path)/invite", [:], from: person).contains("/dashboard/link/"))
            #expect(try await browser.post("\(path)/sign-out", [:], from: person).contains("Signed out"))
            #expect(try await browser.post("\(path)/remove", [:], from: person).contains("Removed."))
            try await other.end()
        }
    }

    @Test func aPersonWhoseLastAppIsErasedHasNoneAndIsNotGivenAll() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            let anna: JSONValue = ["name": "anna", "role": "author", "apps": [.string(Vectors.bundleID)]]
            let id = try #require(try await provider.api.post("/v1/people", anna).json["id"].stringValue)
            _ = try await provider.api.delete("/v1/apps/\(Vectors.bundleID)")
            #expect(try await provider.api.get("/v1/people/\(id)").json["apps"] == [])
            try await browser.signInAsAdmin(at: provider)
            let path = "/dashboard/people/\(id)"
            let page = try await browser.get(path)
            #expect(page.contains("<dd>none</dd>"))
            #expect(page.contains("<option value=\"some\" selected>"))
            #expect(try await browser.get("/dashboard/people").contains("<td>none</td>"))
            let fields = ["role": "viewer", "reach": "some", "was": try #require(page.hidden("was"))]
            let saved = try await browser.post("\(path)/edit", fields, from: page)
            #expect(saved.contains("Saved.") && saved.contains("<dd>none</dd>"))
            let stored = try await provider.api.get("/v1/people/\(id)").json
            #expect(stored["role"] == "viewer" && stored["apps"] == [])
        }
    }

    @Test func allAppsAreAnExplicitChoice() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            try await browser.signInAsAdmin(at: provider)
            let page = try await browser.get("/dashboard/people")
            let refused: [[String: String]] = [
                [:], ["reach": "some"], ["reach": "all", "apps": Vectors.bundleID],
            ]
            for choice in refused {
                let fields = ["name": "anna", "role": "author"].merging(choice) { $1 }
                let answer = try await browser.post("/dashboard/people", fields, from: page)
                #expect(answer.status == 400 && answer.contains("person-apps-problem"), "\(choice)")
            }
            for (name, choice) in [("all", ["reach": "all"]), ("some", ["reach": "some", "apps": Vectors.bundleID])] {
                let fields = ["name": name, "role": "author"].merging(choice) { $1 }
                #expect(try await browser.post("/dashboard/people", fields, from: page).status == 200)
            }
            let people = try await provider.api.get("/v1/people").json["people"].elements
            #expect(people.first { $0["name"] == "all" }?["apps"] == .null)
            #expect(people.first { $0["name"] == "some" }?["apps"] == [.string(Vectors.bundleID)])
        }
    }

    @Test func whatSomebodyElseChangedInOtherFieldsStays() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            let added = try await provider.api.post("/v1/people", ["name": "anna", "role": "author"])
            let id = try #require(added.json["id"].stringValue)
            try await browser.signInAsAdmin(at: provider)
            let page = try await browser.get("/dashboard/people/\(id)")
            let limit: JSONValue = ["apps": [.string(Vectors.bundleID)]]
            #expect(try await provider.api.call("PATCH", "/v1/people/\(id)", limit.text).status == 200)
            let fields = ["role": "viewer", "reach": "all", "was": try #require(page.hidden("was"))]
            #expect(try await browser.post("/dashboard/people/\(id)/edit", fields, from: page).contains("Saved."))
            let stored = try await provider.api.get("/v1/people/\(id)").json
            #expect(stored["role"] == "viewer" && stored["apps"] == [.string(Vectors.bundleID)])
        }
    }

    @Test func errorsAreAtTheField() async throws {
        try await withDashboard { provider, browser in
            try await browser.signInAsAdmin(at: provider)
            let page = try await browser.get("/dashboard/people")
            let wrong = try await browser.post("/dashboard/people", ["name": "", "role": "author"], from: page)
            #expect(wrong.status == 400 && wrong.contains("person-name-problem"))
            let role = try await browser.post("/dashboard/people", ["name": "eve", "role": "god"], from: page)
            #expect(role.status == 400 && role.contains("person-role-problem"))
        }
    }

    @Test func theOwnPasswordAndSessions() async throws {
        try await withDashboard { provider, browser in
            let added = try await provider.api.post("/v1/people", ["name": "anna", "role": "viewer"])
            let fields = ["password": Self.password, "again": Self.password]
            _ = try await browser.post(try #require(added.json["link"].stringValue), fields)
            let account = try await browser.get("/dashboard/account")
            #expect(account.status == 200 && account.contains("this one") && account.contains("Viewer"))
            let wrong = try await browser.post(
                "/dashboard/account/password",
                ["current": "wrong", "password": "another long one", "again": "another long one"],
                from: account
            )
            #expect((400..<500).contains(wrong.status) && wrong.contains("role=\"alert\""))
            #expect(!wrong.contains("another long one"))
            let differ = try await browser.post(
                "/dashboard/account/password",
                ["current": Self.password, "password": "another long one", "again": "x"],
                from: account
            )
            #expect(differ.status == 400 && differ.contains("password-again-problem"))
            let german = try await browser.post("/dashboard/account/language", ["language": "de"], from: account)
            #expect(german.contains("lang=\"de\"") && german.contains("Gespeichert."))
            let out = try await browser.post("/dashboard/account/sign-out-everywhere", [:], from: account)
            #expect(out.path == "/dashboard/sign-in")
            #expect(try await browser.get("/dashboard/account").path.hasPrefix("/dashboard/sign-in"))
        }
    }
}
