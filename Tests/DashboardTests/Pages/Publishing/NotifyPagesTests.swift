import Foundation
import NIOHTTP1
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

@Suite(.timeLimit(.patience)) struct NotifyPagesTests {
    @Test func notifyAsksWithTheFiguresAndIsSentOnce() async throws {
        let sender = ScriptedSender()
        try await withPublishingSite(senders: sender) { site in
            let (browser, api) = (site.browser, site.provider.api)
            let publication = try await site.addPublication(["waves": ["size": 2, "intervalSeconds": 3600]])
            let issue = try await site.addIssue(of: publication, isPublished: true)
            for number in 1...3 { try await site.addReader(number) }
            let path = site.path(ofIssue: issue)
            #expect(try await browser.get(path).contains("href=\"\(path)/notify\""))
            let ask = try await browser.get("\(path)/notify")
            #expect(ask.contains("Notify 3 devices?") && ask.contains("Distribution"))
            #expect(ask.contains("2 (2 devices every 1 h): 1 h at least"))
            let sent = try await browser.post("\(path)/notify", [:], from: ask)
            #expect(sent.contains("Accepted") && sent.contains("data-live=\"\(path)/live\""))
            let id = try #require(try await api.get("/v1/issues/\(issue)").json["notification"].stringValue)
            let again = try await browser.post("\(path)/notify", [:], from: ask)
            #expect(again.status == 200)
            #expect(try await api.get("/v1/issues/\(issue)").json["notification"].stringValue == id)
            // The second wave is an hour away.
            while try await api.get("/v1/notifications/\(id)").json["waitingFor"] != "wave" {
                try Task.checkCancellation()
            }
            let waiting = try await browser.get(path)
            #expect(waiting.contains("1 of 2") && waiting.contains("pause between waves"))
            #expect(!waiting.contains("href=\"\(path)/notify\""))
            #expect(try await browser.get("\(path)/notify").status == 409)
            let paused = try await browser.post("\(path)/pause", [:], from: waiting)
            #expect(paused.contains("\(path)/resume"))
            let resumed = try await browser.post("\(path)/resume", [:], from: paused)
            #expect(resumed.contains("\(path)/pause"))
            let cancelled = try await browser.post("\(path)/cancel", [:], from: resumed)
            #expect(cancelled.contains("Notify again") && !cancelled.contains("data-live"))
            #expect(sender.sent.count == 2)
            let more = try await browser.post("\(path)/notify", ["again": "yes"], from: cancelled)
            #expect(more.contains("Accepted"))
            #expect(try await api.get("/v1/issues/\(issue)").json["notification"].stringValue != id)
        }
    }

    @Test func theLivePartShowsWavesAndDownloads() async throws {
        try await withPublishingSite { site in
            let publication = try await site.addPublication([
                "waves": ["size": 1, "intervalSeconds": 3600, "steering": ["maximumDownloads": 400]]
            ])
            let issue = try await site.addIssue(of: publication, isPublished: true)
            for number in 1...2 { try await site.addReader(number) }
            let path = site.path(ofIssue: issue)
            let page = try await site.browser.post(
                "\(path)/notify",
                [:],
                from: try await site.browser.get("\(path)/notify")
            )
            #expect(page.contains("open downloads, limit 400"))
            _ = try await site.browser.post("\(path)/cancel", [:], from: page)
            let live = try await site.browser.get("\(path)/live")
            #expect(live.headers.first(name: "content-type") == "text/event-stream; charset=utf-8")
            #expect(live.contains("event: part") && live.contains("open downloads") && live.contains("event: end"))
        }
    }

    @Test func aRefusalIsWhereTheButtonWas() async throws {
        try await withPublishingSite { site in
            let (browser, publication) = (site.browser, try await site.addPublication())
            try await site.addReader(1)
            let draft = try await site.addIssue("draft", of: publication)
            let bare = try await site.addIssue("bare", of: publication)
            try await site.provider.api.post("/v1/issues/\(bare):publish", [:])
            let retail = try await site.addIssue("retail", of: publication, isPublished: true)
            _ = try await site.provider.api.call(
                "PATCH",
                "/v1/issues/\(retail)",
                Data(#"{"access":"retail"}"#.utf8),
                headers: ["content-type": "application/json"]
            )
            for (issue, reason, isShown) in [
                (draft, "it is a draft", false), (bare, "set a rendition first", true),
                (retail, "nobody can be entitled", true),
            ] {
                let path = site.path(ofIssue: issue)
                let page = try await browser.get(path)
                #expect(page.status == 200 && page.contains(reason) == isShown, "\(reason)")
                #expect(!page.contains("href=\"\(path)/notify\""))
                for answer in [
                    try await browser.get("\(path)/notify"), try await browser.post("\(path)/notify", [:], from: page),
                ] {
                    #expect(
                        answer.status == 409 && answer.contains("id=\"refusal\"") && answer.contains(reason),
                        "\(reason)"
                    )
                }
                #expect(try await site.provider.api.get("/v1/issues/\(issue)").json["notification"] == .null)
            }
        }
    }

    @Test func nobodyIsSaidBeforeItIsSent() async throws {
        try await withPublishingSite { site in
            let publication = try await site.addPublication()
            let issue = try await site.addIssue("dev_test.issue7", of: publication, isPublished: true)
            let ask = try await site.browser.get("\(site.path(ofIssue: issue))/notify")
            #expect(ask.contains("Notify 0 devices?") && ask.contains("Developer"))
            #expect(ask.contains("--environment sandbox --attribute newsstand=true"))
        }
    }
}
