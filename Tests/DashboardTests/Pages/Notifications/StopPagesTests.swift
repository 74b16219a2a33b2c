import NIOHTTP1
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import Dashboard

/// What the pages say after a stop (docs/decisions/0051).
@Suite(.timeLimit(.patience)) struct StopPagesTests {
    private static let home = "/dashboard/apps/\(Vectors.bundleID)"

    /// One push is in flight while all is stopped.
    @Test func aStopSaysWhatIsUnderWay() async throws {
        let (sender, gate) = (ScriptedSender(), Gate())
        sender.onSend { _ in await gate.pass() }
        try await withDashboard(senders: sender) { provider, browser in
            defer { gate.open() }
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, ["user": "alice"])
            try await browser.signInAsAdmin(at: provider)
            let sent = try await provider.send(["to": ["all": true], "alert": "Hi", "environment": "sandbox"])
            let path = "\(Self.home)/notifications/\(try #require(sent.json["id"].stringValue))"
            try await eventually { !sender.sent.isEmpty }
            let page = try await browser.get(path)
            let paused = try await browser.post("\(path)/pause", [:], from: page)
            #expect(paused.text.contains("Paused. One push is still under way."))
            let cancelled = try await browser.post("\(path)/cancel", [:], from: page)
            #expect(cancelled.text.contains("Cancelled. One push is still under way."))
            let stopped = try await browser.post("\(Self.home)/pause", [:], from: page)
            #expect(stopped.text.contains("Everything of this app is stopped. One push is still under way."))
            let removed = try await browser.post("\(Self.home)/credentials/sandbox/remove", [:], from: page)
            #expect(removed.text.contains("Removed. One push is still under way."))
        }
    }

    @Test(arguments: [
        ("en", "cancel&underWay=1200", "Cancelled. 1,200 pushes are still under way."),
        ("de", "cancel&underWay=2", "Abgebrochen. 2 Pushes sind noch unterwegs."),
        ("de", "pause&underWay=1", "Angehalten. Ein Push ist noch unterwegs."),
        (
            "en", "erasing&underWay=1",
            "The user is being erased; the rest goes in the background. One push is still under way."
        ),
        ("de", "appErasing", "Die App wird gelöscht; der Rest geschieht im Hintergrund."),
        ("en", "cancel", ">Cancelled.<"), ("en", "cancel&underWay=-1", ">Cancelled.<"),
        ("en", "cancel&underWay=%3Cb%3E", ">Cancelled.<"),
    ])
    func aNoticeIsInTheVisitorsLanguage(language: String, query: String, notice: String) async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            try await browser.signInAsAdmin(at: provider)
            let path = "\(Self.home)/notifications?done=\(query)"
            let page = try await browser.request("GET", path, nil, headers: ["accept-language": language])
            #expect(page.text.contains(notice))
        }
    }

    /// An erasure that is still going on is not said to be over.
    @Test func anErasureThatGoesOnIsCalledSo() {
        #expect(UserPages.notice(ofErasure: ["state": "erasing", "underWay": 1]) == "erasing")
        #expect(UserPages.notice(ofErasure: ["state": "erased", "underWay": 0]) == "erased")
        #expect(AppSettingsPages.notice(ofErasure: ["state": "erasing", "underWay": 1]) == "appErasing")
        #expect(AppSettingsPages.notice(ofErasure: ["state": "erased", "underWay": 0]) == "appErased")
    }
}
