import Foundation
import PushSupport
import PushTesting
import Testing

@Suite(.timeLimit(.patience)) struct IssuePagesTests {
    @Test func anIssueIsAddedChangedPublishedWithdrawnAndDeleted() async throws {
        try await withPublishingSite { site in
            let (browser, publication) = (site.browser, try await site.addPublication())
            let list = "\(PublishingSite.path)/\(publication)"
            let fields = ["title": "Issue 7", "productId": "issue7", "date": "2026-11-20", "number": "7"]
            let added = try await browser.post(list, fields, from: try await browser.get(list))
            #expect(added.contains("Added as a draft") && added.contains("no app sees it"))
            let path = try #require(added.path.split(separator: "?").first).description
            let edit = ["title": "Issue seven", "productId": "issue.7", "date": "2026-11-21", "number": ""]
            let changed = try await browser.post("\(path)/edit", edit, from: added)
            #expect(changed.contains("<h1>Issue seven</h1>") && changed.contains("issue.7"))
            let published = try await browser.post("\(path)/publish", [:], from: changed)
            #expect(published.contains("It is in the catalogue") && !published.contains("name=\"productId\""))
            let refused = try await browser.post("\(path)/delete", [:], from: published)
            #expect(refused.status == 409 && refused.contains("role=\"alert\""))
            let withdrawn = try await browser.post("\(path)/withdraw", [:], from: published)
            #expect(withdrawn.contains("it is in no catalogue") && withdrawn.contains("\(path)/publish"))
            let gone = try await browser.post("\(path)/delete", [:], from: withdrawn)
            #expect(gone.path.hasPrefix(list) && !gone.contains("Issue seven"))
            #expect(try await browser.get(path).status == 404)
        }
    }

    @Test func aWithdrawalSaysWhatIsUnderWay() async throws {
        let (sender, gate) = (ScriptedSender(), Gate())
        sender.onSend { _ in await gate.pass() }
        try await withPublishingSite(senders: sender) { site in
            defer { gate.open() }
            let issue = try await site.addIssue(of: try await site.addPublication(), isPublished: true)
            try await site.addReader(1)
            try await site.provider.api.post("/v1/issues/\(issue):notify", [:])
            try await eventually { !sender.sent.isEmpty }
            let path = site.path(ofIssue: issue)
            let page = try await site.browser.get(path)
            let paused = try await site.browser.post("\(path)/pause", [:], from: page)
            #expect(paused.contains("Paused. One push is still under way."))
            let withdrawn = try await site.browser.post("\(path)/withdraw", [:], from: page)
            #expect(withdrawn.contains("It can no longer be downloaded. One push is still under way."))
        }
    }

    @Test(arguments: [
        (["title": ""], "title"), (["productId": "no spaces please"], "productId"), (["date": "2026-02-30"], "date"),
        (["access": "stolen"], "access"), (["number": String(repeating: "7", count: 200)], "number"),
    ])
    func theErrorIsAtTheField(_ wrong: [String: String], _ field: String) async throws {
        try await withPublishingSite { site in
            let publication = try await site.addPublication()
            let issue = try await site.addIssue(of: publication)
            let right = ["title": "Issue 8", "productId": "issue8", "date": "2026-12-20"]
            for (form, path) in [
                ("add", "\(PublishingSite.path)/\(publication)"), ("edit", "\(site.path(ofIssue: issue))/edit"),
            ] {
                let page = try await site.browser.get(site.path(ofIssue: issue))
                let answer = try await site.browser.post(path, right.merging(wrong) { $1 }, from: page)
                #expect(answer.status == 400 && answer.contains("\(form)-\(field)-problem"), "\(form)")
            }
        }
    }

    @Test func aTakenProductIDIsSaidAtItsField() async throws {
        try await withPublishingSite { site in
            let publication = try await site.addPublication()
            _ = try await site.addIssue("issue7", of: publication)
            let path = "\(PublishingSite.path)/\(publication)"
            let fields = ["title": "Again", "productId": "issue7", "date": "2026-11-20"]
            let answer = try await site.browser.post(path, fields, from: try await site.browser.get(path))
            #expect(answer.status == 409 && answer.contains("add-productId-problem") && answer.contains("Again"))
        }
    }

    @Test func filesAreListedAndRemoved() async throws {
        try await withPublishingSite { site in
            let issue = try await site.addIssue(of: try await site.addPublication())
            let path = site.path(ofIssue: issue)
            #expect(try await site.browser.get(path).contains("No file yet"))
            try await site.addRendition(to: issue, size: "2048x1536")
            let page = try await site.browser.get(path)
            #expect(page.contains("2048x1536") && page.contains("issue.zip") && page.contains("8 B"))
            let removed = try await site.browser.post("\(path)/files/2048x1536/remove", [:], from: page)
            #expect(removed.status == 200 && removed.contains("No file yet"))
            let garbage = try await site.browser.post("\(path)/files/%3Cscript%3E/remove", [:], from: page)
            #expect(garbage.status == 400 && !garbage.hasMarkup)
        }
    }

    @Test func aViewerSeesAndChangesNothing() async throws {
        try await withPublishingSite { site in
            let issue = try await site.addIssue(of: try await site.addPublication(), isPublished: true)
            try await site.addReader(1)
            let path = site.path(ofIssue: issue)
            try await site.browser.signIn("read", at: site.provider)
            let page = try await site.browser.get(path)
            #expect(page.status == 200 && !page.contains("action=\"\(path)") && !page.contains("\(path)/notify"))
            #expect(try await site.browser.get("\(path)/notify").status == 403)
            for form in [
                "edit", "publish", "withdraw", "delete", "files/cover/remove", "notify", "pause", "resume", "cancel",
            ] {
                #expect(try await site.browser.post("\(path)/\(form)", [:], from: page).status == 403, "\(form)")
            }
            let stored = try await site.provider.api.get("/v1/issues/\(issue)").json
            #expect(stored["state"] == "published" && stored["notification"] == .null)
        }
    }
}
