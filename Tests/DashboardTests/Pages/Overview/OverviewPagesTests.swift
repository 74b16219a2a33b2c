import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import Dashboard

@Suite(.timeLimit(.patience)) struct OverviewPagesTests {
    private static let home = "/dashboard/apps/\(Vectors.bundleID)"

    @Test func theFirstPageShowsAppsFiguresAndCharts() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA)
            let answer = try await provider.send(["to": ["all": true], "alert": "Hi"])
            _ = try await provider.finished(answer)
            try await browser.signInAsAdmin(at: provider)
            let page = try await browser.get("/dashboard")
            #expect(page.status == 200)
            #expect(page.contains(Vectors.bundleID) && page.contains("Nothing is wrong."))
            #expect(page.contains("role=\"img\"") && page.contains("As a table"))
            #expect(!page.text.contains("NaN") && !page.text.contains("style=\""))
            let app = try await browser.get(Self.home)
            #expect(app.status == 200 && app.contains("Latest notifications"))
            let id = try #require(answer.json["id"].stringValue)
            #expect(app.contains("<a href=\"\(Self.home)/notifications/\(id)\">") && app.contains(">Done</span>"))
        }
    }

    @Test func aStoppedAppIsShownFirstWithTheButtonThatResumesIt() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            try await browser.signInAsAdmin(at: provider)
            let settings = try await browser.get("\(Self.home)/settings")
            #expect(settings.contains("Stop everything of this app"))
            let stopped = try await browser.post("\(Self.home)/pause", ["reason": Browser.markup], from: settings)
            #expect(stopped.path.hasPrefix(Self.home))
            let page = try await browser.get("/dashboard")
            #expect(page.contains("Everything of \(Vectors.bundleID) is stopped") && !page.hasMarkup)
            let resumed = try await browser.post("\(Self.home)/resume", [:], from: page)
            #expect(resumed.status == 200 && !resumed.contains("is stopped"))
        }
    }

    @Test func anEmptyServerTeachesTheFirstCommand() async throws {
        try await withDashboard { provider, browser in
            try await browser.signInAsAdmin(at: provider)
            let page = try await browser.get("/dashboard")
            #expect(page.contains("martlet app add com.example.MyApp"))
            let form = try await browser.get("/dashboard/add-app")
            let refused = try await browser.post("/dashboard/add-app", ["bundleId": Browser.markup], from: form)
            #expect(refused.status == 400 && refused.contains("aria-invalid=\"true\"") && !refused.hasMarkup)
            let added = try await browser.post("/dashboard/add-app", ["bundleId": "com.example.New"], from: form)
            #expect(added.path.hasPrefix("/dashboard/apps/com.example.New/credentials"))
        }
    }

    @Test func settingsAreChangedByAdministratorsOnly() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            try await browser.signInAsAdmin(at: provider)
            let settings = try await browser.get("\(Self.home)/settings")
            let refused = try await browser.post("\(Self.home)/settings", ["rate": "0"], from: settings)
            #expect(refused.status == 400 && refused.contains("settings-rate-problem"))
            let half = try await browser.post("\(Self.home)/settings", ["capCount": "3"], from: settings)
            #expect(half.status == 400 && half.contains("settings-capWindow-problem"))
            let saved = try await browser.post(
                "\(Self.home)/settings",
                ["rate": "5", "capCount": "3", "capWindow": "24h", "receipts": "counts", "installationTags": "a\nb*"],
                from: settings
            )
            #expect(saved.status == 200 && saved.contains("Saved."))
            let app = try await provider.api.get("/v1/apps/\(Vectors.bundleID)").json
            #expect(app["rate"] == 5 && app["cap"]["window"] == "24h" && app["installationTags"] == ["a", "b*"])
            try await browser.signIn("read", at: provider)
            let viewer = try await browser.get("\(Self.home)/settings")
            #expect(viewer.status == 200 && !viewer.contains("Erase this app"))
            for form in ["settings", "pause", "erase"] {
                #expect(try await browser.post("\(Self.home)/\(form)", ["confirm": "x"], from: viewer).status == 403)
            }
            #expect(try await browser.get("/dashboard/add-app").status == 403)
        }
    }

    @Test func settingsThatSomebodyElseChangedStay() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            try await browser.signInAsAdmin(at: provider)
            let page = try await browser.get("\(Self.home)/settings")
            let cap: JSONValue = ["cap": ["count": 3, "window": "24h"], "installationTags": ["a"]]
            let api = "/v1/apps/\(Vectors.bundleID)"
            #expect(try await provider.api.call("PATCH", api, cap.text).status == 200)
            let fields = ["rate": "5", "receipts": "none", "was": try #require(page.hidden("was"))]
            #expect(try await browser.post("\(Self.home)/settings", fields, from: page).contains("Saved."))
            let app = try await provider.api.get(api).json
            #expect(app["rate"] == 5 && app["cap"]["count"] == 3 && app["installationTags"] == ["a"])
        }
    }

    @Test func anAppIsErasedOnceItsBundleIdIsTyped() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            try await browser.signInAsAdmin(at: provider)
            let page = try await browser.get("\(Self.home)/settings")
            let refused = try await browser.post("\(Self.home)/erase", ["confirm": "no"], from: page)
            #expect(refused.status == 400 && refused.contains("problem-confirm"))
            let gone = try await browser.post("\(Self.home)/erase", ["confirm": Vectors.bundleID], from: page)
            #expect(gone.status == 200 && gone.path.hasPrefix("/dashboard?done="))
            #expect(try await browser.get(Self.home).status == 404)
        }
    }

    @Test(arguments: [(0.5, 10.0), (0.95, 50), (1, 50)])
    func aQuantileIsTheBoundOfItsBucket(_ part: Double, _ bound: Double) {
        #expect(StatisticsModel.quantile(part, [6, 3, 1], [10, 20, 50]) == bound)
        #expect(StatisticsModel.quantile(part, [0, 0], [10]) == nil)
        #expect(StatisticsModel.quantile(part, [], []) == nil)
        #expect(StatisticsModel.quantile(part, [0, 7], [10]) == 10)
    }

    @Test func daysLeftAreWhole() {
        let now = Timestamp(milliseconds: 86_400_000)
        #expect(ExpiryText.daysLeft(until: 3 * 86_400_000, now: now) == 2)
        #expect(ExpiryText.daysLeft(until: 86_400_001, now: now) == 0)
        #expect(ExpiryText.daysLeft(until: 86_399_999, now: now) == -1)
        #expect(ExpiryText.daysLeft(until: .max, now: Timestamp(milliseconds: -1)) == .max)
    }
}
