import Dashboard
import Foundation
import NIOHTTP1
import PushTesting
import Testing

@Suite struct SignInTests {
    @Test func aVisitorSignsInWithAKeyAndSeesTheOverview() async throws {
        try await withDashboard { provider, browser in
            let first = try await browser.get("/dashboard")
            #expect(first.status == 200)
            #expect(first.path == "/dashboard/sign-in?next=%2Fdashboard")
            let page = try await browser.signIn(key: try #require(provider.api.apiKey))
            #expect(page.status == 200)
            #expect(page.path == "/dashboard")
            #expect(page.text.contains("martlet app add"))
            #expect(page.text.contains("curl -H &quot;Authorization: Bearer $MARTLET_API_KEY&quot;"))
        }
    }

    @Test func whatIsInTheQueryIsNoField() async throws {
        try await withDashboard { provider, browser in
            let key = try #require(provider.api.apiKey)
            let refused = try await browser.send("POST", "/dashboard/sign-in?key=\(key)", "")
            #expect(refused.status == 401 && browser.cookie == nil)
            let page = try await browser.signIn(key: key)
            let token = try #require(page.csrf)
            #expect(try await browser.send("POST", "/dashboard/sign-out?csrf=\(token)", "").status == 403)
        }
    }

    @Test func aWrongKeyIsRefusedInThePage() async throws {
        try await withDashboard { _, browser in
            let page = try await browser.signIn(key: "mk_wrong")
            #expect((400..<500).contains(page.status))
            #expect(page.text.contains("role=\"alert\""))
            #expect(browser.cookie == nil)
        }
    }

    /// They are the same guesses as those at the API, and a key that is known is none.
    @Test func wrongKeysCount() async throws {
        try await withDashboard(time: ManualTime()) { provider, browser in
            for _ in 0..<20 { #expect(try await browser.signIn(key: "mk_wrong").status == 401) }
            let refused = try await browser.signIn(key: "mk_wrong")
            #expect(refused.status == 429 && refused.headers.first(name: "retry-after") != nil)
            var stranger = provider.api
            stranger.apiKey = "mk_wrong"
            #expect(try await stranger.get("/v1/apps").status == 429)
            #expect(try await browser.signIn(key: try #require(provider.api.apiKey)).status == 200)
        }
    }

    @Test func everyPageHasTheSecurityHeaders() async throws {
        try await withDashboard { provider, browser in
            let pages = [
                try await browser.get("/dashboard/sign-in"),
                try await browser.signIn(key: try #require(provider.api.apiKey)),
                try await browser.get("/dashboard/account"),
            ]
            for page in pages {
                let policy = try #require(page.headers.first(name: "content-security-policy"))
                #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe"))
                #expect(page.headers.first(name: "cache-control") == "no-store")
                #expect(page.headers.first(name: "x-content-type-options") == "nosniff")
            }
        }
    }

    @Test func theCookieIsForThisSiteAndNoScript() async throws {
        try await withDashboard { provider, browser in
            let key = try #require(provider.api.apiKey)
            let answer = try await browser.send("POST", "/dashboard/sign-in", "key=\(key)")
            let cookie = try #require(answer.headers.first(name: "set-cookie"))
            #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.contains("Path=/"))
        }
    }

    @Test func aFormWithoutItsTokenChangesNothing() async throws {
        try await withDashboard { provider, browser in
            let page = try await browser.signIn(key: try #require(provider.api.apiKey))
            for token in ["", "wrong"] {
                let refused = try await browser.post("/dashboard/sign-out", ["csrf": token])
                #expect(refused.status == 403)
            }
            #expect(try await browser.get("/dashboard/account").status == 200)
            let end = try await browser.post("/dashboard/sign-out", [:], from: page)
            #expect(end.path == "/dashboard/sign-in")
            #expect(browser.cookie == nil)
            #expect(try await browser.get("/dashboard/account").path.hasPrefix("/dashboard/sign-in"))
        }
    }

    /// The script removes the drafts in the browser when one of these forms is sent.
    @Test func theFormsThatSignOutAreMarked() async throws {
        try await withDashboard { provider, browser in
            _ = try await browser.signIn(key: try #require(provider.api.apiKey))
            let page = try await browser.get("/dashboard/account")
            for path in ["sign-out", "account/sign-out-everywhere"] {
                #expect(page.contains("action=\"/dashboard/\(path)\" data-sign-out>"), "\(path)")
            }
        }
    }

    @Test(arguments: [["origin": "https://evil.example"], ["sec-fetch-site": "cross-site"], ["origin": "null"]])
    func formsOfOtherSitesAreRefused(_ header: [String: String]) async throws {
        try await withDashboard { provider, browser in
            let key = try #require(provider.api.apiKey)
            let refused = try await browser.post(
                "/dashboard/sign-in",
                ["key": key],
                headers: .init(header.map { ($0.key, $0.value) })
            )
            #expect(refused.status == 403)
            #expect(browser.cookie == nil)
        }
    }

    @Test(arguments: ["https://evil.example/", "//evil.example", "/dashboardx", "/dashboard\\@evil", "javascript:1"])
    func signingInLeadsToNoOtherSite(_ next: String) async throws {
        try await withDashboard { provider, browser in
            let path =
                "/dashboard/sign-in?next=\(next.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
            let key = try #require(provider.api.apiKey)
            let answer = try await browser.send("POST", path, "key=\(key)")
            #expect(answer.headers.first(name: "location") == "/dashboard")
        }
    }

    @Test func unknownPagesAndMethodsAreErrors() async throws {
        try await withDashboard { provider, browser in
            _ = try await browser.signIn(key: try #require(provider.api.apiKey))
            #expect(try await browser.get("/dashboard/nothing").status == 404)
            #expect(try await browser.send("PUT", "/dashboard/account", "").status == 405)
        }
    }

    @Test func assetsAreKeptByTheirHash() async throws {
        try await withDashboard { _, browser in
            let page = try await browser.get("/dashboard/sign-in")
            let match = try #require(page.text.firstMatch(of: #/href="(/dashboard/assets/style[^"]+)"/#))
            let style = try await browser.get(String(match.1))
            #expect(style.status == 200)
            #expect(style.headers.first(name: "cache-control")?.contains("immutable") == true)
            let tag = try #require(style.headers.first(name: "etag"))
            let again = try await browser.send("GET", String(match.1), nil, headers: ["if-none-match": tag])
            #expect(again.status == 304)
            #expect(try await browser.get("/dashboard/assets/other.css").status == 404)
        }
    }
}
