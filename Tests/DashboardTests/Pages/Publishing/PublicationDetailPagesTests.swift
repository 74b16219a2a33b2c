import Foundation
import PushSupport
import PushTesting
import Testing

@Suite(.timeLimit(.patience)) struct PublicationDetailPagesTests {
    private static let path = PublishingSite.path

    @Test func aPublicationIsAddedChangedAndDeleted() async throws {
        try await withPublishingSite { site in
            let browser = site.browser
            let empty = try await browser.get(Self.path)
            #expect(empty.contains("martlet publication add") && empty.contains("<details class=\"card\" open>"))
            let added = try await browser.post(
                Self.path,
                [
                    "name": "The Example", "waveSize": "5000", "maximumDownloads": "400", "maximumBandwidth": "2.5",
                    "subscriptionProducts": "monthly\nyearly",
                ],
                from: empty
            )
            #expect(added.status == 200 && added.contains("<h1>The Example</h1>"))
            #expect(added.contains("5,000 devices every 5 min") && added.contains("below 400 open downloads"))
            #expect(added.contains("below 2.5 MB/s") && added.contains("monthly, yearly"))
            let path = try #require(added.path.split(separator: "?").first).description
            let changed = try await browser.post("\(path)/edit", ["name": "Renamed", "account": "7"], from: added)
            #expect(changed.contains("<dd>7</dd>"))
            #expect(changed.contains("<h1>Renamed</h1>") && !changed.contains("below 400 open downloads"))
            let id = try #require(path.split(separator: "/").last).description
            let stored = try await site.provider.api.get("/v1/publications/\(id)").json
            #expect(stored["account"] == "7" && stored["subscriptionProducts"] == [])
            let removed = try await browser.post("\(path)/delete", [:], from: changed)
            #expect(removed.contains("Removed.") && removed.contains("martlet publication add"))
        }
    }

    @Test(arguments: [
        (["name": ""], "add-name-problem"), (["name": "x", "waveSize": "many"], "add-waveSize-problem"),
        (["name": "x", "waveInterval": "0"], "add-waveInterval-problem"),
        (["name": "x", "maximumBandwidth": "1e300"], "add-maximumBandwidth-problem"),
        (["name": "x", "maximumDownloads": "-1"], "add-maximumDownloads-problem"),
        (["name": "x", "account": String(repeating: "a", count: 300)], "add-account-problem"),
    ])
    func theErrorIsAtTheField(_ fields: [String: String], _ problem: String) async throws {
        try await withPublishingSite { site in
            let page = try await site.browser.get(Self.path)
            let answer = try await site.browser.post(Self.path, fields, from: page)
            #expect(answer.status == 400 && answer.contains(problem))
            #expect(fields.values.allSatisfy { $0.isEmpty || answer.contains($0) }, "what was typed stays")
        }
    }

    @Test func issuesAreFilteredSortedAndPaged() async throws {
        try await withPublishingSite { site in
            let (browser, id) = (site.browser, try await site.addPublication())
            let path = "\(Self.path)/\(id)"
            #expect(try await browser.get(path).contains("martlet issue add"))
            _ = try await site.addIssue("a1", of: id, title: "January", date: "2026-01-01", isPublished: true)
            _ = try await site.addIssue("a2", of: id, title: "February", date: "2026-02-01")
            let all = try await browser.get(path).text
            let (january, february) = (all.range(of: ">January<"), all.range(of: ">February<"))
            #expect(try #require(february).lowerBound < #require(january).lowerBound)
            let oldest = try await browser.get("\(path)?sort=oldest").text
            #expect(oldest.contains("aria-sort=\"ascending\""))
            #expect(
                try #require(oldest.range(of: ">January<")).lowerBound
                    < #require(oldest.range(of: ">February<")).lowerBound
            )
            let drafts = try await browser.get("\(path)?state=draft")
            #expect(drafts.contains(">February<") && !drafts.contains(">January<"))
            #expect(try await browser.get("\(path)?state=withdrawn").contains("No issue in this state"))
            for query in ["state=nonsense", "sort=nonsense", "cursor=nonsense"] {
                #expect(try await browser.get("\(path)?\(query)").status == 400, "\(query)")
            }
        }
    }

    @Test func thePagesOfAListBelongTogether() async throws {
        try await withPublishingSite { site in
            let id = try await site.addPublication()
            for day in 1...28 {
                for month in 1...2 {
                    let date = String(format: "2026-%02d-%02d", month, day)
                    _ = try await site.addIssue("p\(month).\(day)", of: id, title: "of \(date).", date: date)
                }
            }
            for (sort, first, last) in [("", "2026-02-28", "2026-01-01"), ("?sort=oldest", "2026-01-01", "2026-02-28")]
            {
                let page = try await site.browser.get("\(Self.path)/\(id)\(sort)")
                #expect(page.contains("of \(first).") && !page.contains("of \(last)."))
                let next = try #require(page.text.firstMatch(of: #/href="([^"]+)" rel="next"/#)).1
                let rest = try await site.browser.get(next.replacingOccurrences(of: "&amp;", with: "&"))
                #expect(rest.status == 200 && rest.contains("of \(last).") && !rest.contains("of \(first)."))
            }
        }
    }

    @Test func aLesserRoleChangesNothing() async throws {
        try await withPublishingSite { site in
            let id = try await site.addPublication()
            let (browser, path) = (site.browser, "\(Self.path)/\(id)")
            try await browser.signIn("read", at: site.provider)
            for path in [Self.path, path] {
                let page = try await browser.get(path)
                #expect(page.status == 200 && !page.contains("<form class=\"form\""), "\(path)")
            }
            let page = try await browser.get(path)
            for form in [Self.path, path, "\(path)/edit", "\(path)/delete"] {
                #expect(try await browser.post(form, ["name": "x"], from: page).status == 403, "\(form)")
            }
            // An author adds issues, and changes no publication.
            try await browser.signIn("read", "send", at: site.provider)
            let author = try await browser.get(path)
            #expect(author.contains("Add an issue") && !author.contains("Change the publication"))
            #expect(try await browser.post("\(path)/edit", ["name": "x"], from: author).status == 403)
            let fields = ["title": "Issue 7", "productId": "issue7", "date": "2026-11-20"]
            #expect(try await browser.post(path, fields, from: author).contains("<h1>Issue 7</h1>"))
        }
    }

    @Test func whatPeopleWroteIsNoMarkup() async throws {
        try await withPublishingSite { site in
            let id = try await site.addPublication([
                "name": .string(Browser.markup), "account": .string(Browser.markup),
                "subscriptionProducts": ["\u{600}<script>alert(2)</script>"],
            ])
            let issue = try await site.addIssue(of: id, title: Browser.markup, isPublished: true)
            let pages = [
                Self.path, "\(Self.path)/\(id)", site.path(ofIssue: issue), "\(site.path(ofIssue: issue))/notify",
            ]
            for path in pages {
                let page = try await site.browser.get(path)
                #expect(page.status == 200 && page.contains("&lt;script&gt;") && !page.hasMarkup, "\(path)")
            }
        }
    }

    @Test func thePublicationOfAnotherAppIsNotFound() async throws {
        try await withPublishingSite { site in
            try await site.provider.api.post("/v1/apps", ["bundleId": "com.example.other"])
            let id = try await site.addPublication()
            let issue = try await site.addIssue(of: id)
            let other = "/dashboard/apps/com.example.other/publishing"
            for path in [
                "\(other)/\(id)", "\(other)/issues/\(issue)", "\(other)/nonsense", "\(Self.path)/issues/nonsense",
            ] {
                #expect(try await site.browser.get(path).status == 404, "\(path)")
            }
            let page = try await site.browser.get(site.path(ofIssue: issue))
            #expect(try await site.browser.post("\(other)/issues/\(issue)/publish", [:], from: page).status == 404)
            #expect(try await site.provider.api.get("/v1/issues/\(issue)").json["state"] == "draft")
        }
    }
}
