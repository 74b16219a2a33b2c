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

    @Test func theCalendarIsInTheZoneThatIsAskedFor() async throws {
        try await self.withApp { provider, browser in
            let schedule: JSONValue = [
                "name": "late", "schedule": ["cron": "30 23 * * *", "timeZone": "UTC"],
                "notification": ["to": ["all": true], "payload": ["aps": ["alert": "Hi"]]],
            ]
            let added = try await provider.api.post("/v1/apps/\(Vectors.bundleID)/schedules", schedule)
            #expect(added.status == .created)
            let path = "\(Self.app)/schedules/calendar?month=2050-06"
            #expect(try await browser.get(path).text.contains(">23:30</time> late"))
            let berlin = try await browser.get("\(path)&zone=Europe/Berlin").text
            #expect(berlin.contains(">01:30</time> late") && berlin.contains("month=2050-07&amp;zone=Europe%2FBerlin"))
            let nonsense = try await browser.get("\(path)&zone=%22%3E%3Cscript%3E")
            #expect(nonsense.status == 200 && nonsense.text.contains("value=\"UTC\""))
        }
    }

    @Test func aWrongCronExpressionIsAnErrorAtItsField() async throws {
        try await self.withApp { _, browser in
            let page = try await browser.get("\(Self.app)/notifications/new?when=recurring")
            let fields = [
                "body": "Hi", "audience": "all", "when": "recurring", "frequency": "cron", "cron": "99 * * * *",
            ]
            let refused = try await browser.post("\(Self.app)/notifications/new", fields, from: page)
            #expect(refused.status == 400 && refused.text.contains("id=\"problem-cron\""))
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

    private static func grid(_ month: String?, _ zone: String = "UTC") throws -> MonthGrid {
        MonthGrid(month, now: Self.now, zone: try #require(TimeZone(identifier: zone)))
    }

    @Test func aMonthHasItsWeeksFromMonday() throws {
        let grid = try Self.grid("2026-02")
        #expect(grid.weeks.count == 5)
        #expect(grid.weeks.first?.first == "2026-01-26" && grid.weeks.last?.last == "2026-03-01")
        #expect((grid.previous, grid.next) == ("2026-01", "2026-03"))
        let first = try Date("2026-01-26T00:00:00Z", strategy: .iso8601)
        #expect(grid.range == first..<first.addingTimeInterval(35 * 86_400))
    }

    @Test(arguments: [nil, "", "2026", "2026-13", "2026-00", "x-y", "99999999999999999999-1", "2026-1-1"])
    func anythingElseIsThePresentMonth(_ month: String?) throws {
        #expect(try Self.grid(month).month == "2025-11")
    }

    @Test func theYearTurns() throws {
        let grid = try Self.grid("2026-12")
        #expect((grid.previous, grid.next) == ("2026-11", "2027-01"))
    }

    @Test(arguments: ["Europe/Berlin", "America/Los_Angeles", "Pacific/Apia"])
    func eachDayIsThereOnceWhereClocksChange(zone: String) throws {
        for month in ["2025-03", "2025-10", "2025-11", "2011-12"] {
            let grid = try Self.grid(month, zone)
            let days = grid.weeks.flatMap(\.self)
            #expect(Set(days).count == days.count && days.count.isMultiple(of: 7) && days == days.sorted())
            #expect(days.contains("\(month)-01") && days.contains("\(month)-29"))
        }
    }

    @Test func aRunIsOnTheDayOfTheZone() throws {
        let run = try Date("2026-03-28T23:30:00Z", strategy: .iso8601)
        #expect(try Self.grid("2026-03", "Europe/Berlin").local(run) == ("2026-03-29", "00:30"))
        #expect(try Self.grid("2026-03", "America/Los_Angeles").local(run) == ("2026-03-28", "16:30"))
    }
}
