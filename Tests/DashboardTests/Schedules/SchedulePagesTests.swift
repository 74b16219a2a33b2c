import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import Dashboard

@Suite(.timeLimit(.minutes(5))) struct SchedulePagesTests {
    private static let app = "/dashboard/apps/\(Vectors.bundleID)"

    private func withApp(_ body: @escaping @Sendable (RunningProvider, Browser) async throws -> Void) async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            _ = try await provider.register(DeviceToken.numbered(1).hex, ["tags": ["beta"]])
            _ = try await browser.signIn(key: try #require(provider.api.apiKey))
            try await body(provider, browser)
        }
    }

    @Test func aScheduleIsWrittenAskedForChangedPausedAndDeleted() async throws {
        try await self.withApp { provider, browser in
            #expect(try await browser.get("\(Self.app)/schedules").text.contains("martlet schedule add"))
            let page = try await browser.get("\(Self.app)/notifications/new?when=recurring")
            var fields = [
                "name": "daily <i>\u{600}", "body": "Hi", "audience": "tag", "tag": "beta", "when": "recurring",
                "frequency": "workdays", "time": "09:30", "zone": "Europe/Berlin",
            ]
            let question = try await browser.post("\(Self.app)/notifications/new", fields, from: page)
            #expect(question.text.contains("Next runs") && question.text.contains("Monday to Friday at 09:30"))
            fields["action"] = "confirmed"
            let saved = try await browser.post("\(Self.app)/notifications/new", fields, from: page)
            let path = String(saved.path.prefix { $0 != "?" })
            #expect(path.hasPrefix("\(Self.app)/schedules/"))
            #expect(saved.text.contains("daily &lt;i&gt;\u{600}") && !saved.text.contains("<i>\u{600}"))
            let stored = try await provider.api.get("/v1/apps/\(Vectors.bundleID)/schedules").json["schedules"].elements
            #expect(stored.first?["schedule"]["cron"] == "30 9 * * mon-fri")
            let edit = try await browser.get("\(path)/edit")
            #expect(edit.text.contains("value=\"09:30\"") && edit.text.contains("value=\"Europe/Berlin\""))
            (fields["frequency"], fields["weekday"]) = ("weekly", "fri")
            let changed = try await browser.post("\(path)/edit", fields, from: edit)
            #expect(changed.text.contains("Every week on Friday at 09:30"))
            let paused = try await browser.post("\(path)/pause", [:], from: edit)
            #expect(paused.text.contains("action=\"\(path)/resume\""))
            let resumed = try await browser.post("\(path)/resume", [:], from: edit)
            #expect(resumed.text.contains("action=\"\(path)/pause\""))
            let list = try await browser.post("\(path)/delete", [:], from: edit)
            #expect(list.text.contains("martlet schedule add"))
        }
    }

    @Test func aWrongCronExpressionIsAnErrorAtItsField() async throws {
        try await self.withApp { _, browser in
            let page = try await browser.get("\(Self.app)/notifications/new?when=recurring")
            let fields = [
                "body": "Hi", "audience": "all", "when": "recurring", "frequency": "cron", "cron": "99 * * * *",
            ]
            let refused = try await browser.post("\(Self.app)/notifications/new", fields, from: page)
            #expect(refused.status == 400 && refused.text.contains("id=\"field-cron-problem\""))
            let part = try await browser.post("\(Self.app)/notifications/preview", fields, from: page)
            #expect(part.text.contains("schedule.cron"))
        }
    }

    @Test func anotherAppsScheduleIsNotFound() async throws {
        try await self.withApp { _, browser in
            for id in [UUID().uuidString, "nonsense"] {
                let status = try await browser.get("\(Self.app)/schedules/\(id)").status
                #expect(status == 404)
            }
        }
    }
}

@Suite struct MonthGridTests {
    private static let now = Date(timeIntervalSince1970: 1_764_000_000)

    @Test func aMonthHasItsWeeksFromMonday() {
        let grid = MonthGrid("2026-02", now: Self.now)
        #expect(grid.weeks.count == 5)
        #expect(grid.weeks.first?.first == "2026-01-26" && grid.weeks.last?.last == "2026-03-01")
        #expect((grid.previous, grid.next) == ("2026-01", "2026-03"))
        #expect(grid.range == ("2026-01-26", "2026-03-02"))
    }

    @Test(arguments: [nil, "", "2026", "2026-13", "2026-00", "x-y", "99999999999999999999-1", "2026-1-1"])
    func anythingElseIsThePresentMonth(_ month: String?) {
        #expect(MonthGrid(month, now: Self.now).month == "2025-11")
    }

    @Test func theYearTurns() {
        let grid = MonthGrid("2026-12", now: Self.now)
        #expect((grid.previous, grid.next) == ("2026-11", "2027-01"))
    }
}
