import Dashboard
import Foundation
import NIOHTTP1
import PushSupport
import PushTesting
import Testing

/// People who sign in with a name and a password, and those who attack that.
@Suite(.timeLimit(.patience)) struct PersonSignInTests {
    private static let password = "correct horse battery"

    /// Adds a person who has a password. The browser is signed in as the person.
    private static func add(
        _ name: String,
        _ provider: RunningProvider,
        _ browser: Browser,
        role: String = "viewer"
    ) async throws {
        let added = try await provider.api.post("/v1/people", ["name": .string(name), "role": .string(role)])
        let link = try #require(added.json["link"].stringValue)
        #expect(try await browser.get(link).status == 200)
        let page = try await browser.post(link, ["password": Self.password, "again": Self.password])
        #expect(page.status == 200 && page.path == "/dashboard")
    }

    @Test func aPersonRedeemsALinkAndSignsInWithThePassword() async throws {
        try await withDashboard { provider, browser in
            try await Self.add("anna", provider, browser)
            let account = try await browser.get("/dashboard/account")
            #expect(account.text.contains("anna"))
            browser.setCookie(nil)
            let wrong = try await browser.post("/dashboard/sign-in", ["name": "anna", "password": "wrong"])
            #expect(wrong.status == 401 && browser.cookie == nil)
            #expect(!wrong.text.contains("wrong password"), "nothing that was typed comes back")
            let right = try await browser.post("/dashboard/sign-in", ["name": "ANNA", "password": Self.password])
            #expect(right.status == 200 && right.path == "/dashboard")
        }
    }

    @Test func aDeadLinkAsksForNoPassword() async throws {
        try await withDashboard { provider, browser in
            let added = try await provider.api.post("/v1/people", ["name": "anna", "role": "viewer"])
            let link = try #require(added.json["link"].stringValue)
            #expect(try await browser.get(link).text.contains("name=\"password\""))
            let fields = ["password": Self.password, "again": Self.password]
            #expect(try await browser.post(link, fields).path == "/dashboard")
            browser.setCookie(nil)
            for path in [link, "/dashboard/link/garbage"] {
                for page in [try await browser.get(path), try await browser.post(path, fields)] {
                    #expect(page.status == 404 && page.text.contains("this link was used already or has expired"))
                    #expect(!page.text.contains("name=\"password\"") && browser.cookie == nil)
                }
            }
        }
    }

    /// A good link is the way past all locks.
    @Test func wrongLinksCountAndHoldBackNoGoodOne() async throws {
        try await withDashboard(time: ManualTime()) { provider, browser in
            let wrong = "/dashboard/link/" + String(repeating: "A", count: 43)
            for _ in 0..<20 { #expect(try await browser.get(wrong).status == 404) }
            #expect(try await browser.get(wrong).status == 429)
            try await Self.add("anna", provider, browser)
        }
    }

    @Test func spacesAroundTheNameDoNotCount() async throws {
        try await withDashboard { provider, browser in
            try await Self.add("anna", provider, browser)
            browser.setCookie(nil)
            let page = try await browser.post("/dashboard/sign-in", ["name": " anna ", "password": Self.password])
            #expect(page.status == 200 && page.path == "/dashboard")
        }
    }

    /// Signing in replaces the token that the browser had, also one that another site has set.
    @Test func noPlantedSessionBecomesThatOfAPerson() async throws {
        try await withDashboard { provider, browser in
            try await Self.add("eve", provider, browser)
            let planted = try #require(browser.cookie)
            try await Self.add("anna", provider, browser)
            let own = try #require(browser.cookie)
            #expect(own != planted)
            browser.setCookie(planted)
            #expect(try await browser.get("/dashboard/account").path.hasPrefix("/dashboard/sign-in"))
            browser.setCookie(String(repeating: "A", count: 43))
            let page = try await browser.post("/dashboard/sign-in", ["name": "anna", "password": Self.password])
            #expect(page.status == 200)
            #expect(browser.cookie != String(repeating: "A", count: 43))
        }
    }

    @Test func afterFiveFailuresTheNameIsLockedForAMinute() async throws {
        try await withDashboard(time: ManualTime()) { provider, browser in
            for name in ["anna", "nobody"] {
                for _ in 0..<5 {
                    let page = try await browser.post("/dashboard/sign-in", ["name": name, "password": "wrong"])
                    #expect(page.status == 401)
                }
                let page = try await browser.post("/dashboard/sign-in", ["name": name, "password": "wrong"])
                #expect(page.status == 429)
                #expect(page.headers.first(name: "retry-after").flatMap(Int.init).map { (1...61).contains($0) } == true)
            }
        }
    }

    @Test func aViewerChangesNothing() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            try await Self.add("anna", provider, browser)
            let account = try await browser.get("/dashboard/account")
            let token = try #require(account.csrf)
            #expect(try await browser.post("/dashboard/sign-out", ["csrf": "x" + token]).status == 403)
            #expect(try await browser.get("/dashboard/account").status == 200)
        }
    }
}
