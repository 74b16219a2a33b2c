import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import Dashboard

@Suite(.timeLimit(.patience)) struct SchedulePagesTests {
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
            #expect(added.status == 201)
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
            #expect(refused.status == 400 && refused.text.contains("id=\"field-cron-problem\""))
            let part = try await browser.post("\(Self.app)/notifications/preview", fields, from: page)
            #expect(part.text.contains("schedule.cron"))
        }
    }

    /// Adds a schedule that has more than the form shows.
    private static func add(_ provider: RunningProvider) async throws -> (id: String, page: String) {
        let schedule: JSONValue = [
            "name": "weekly",
            "schedule": [
                "cron": "0 9 * * mon", "timeZone": "UTC", "missedRuns": "skip", "until": "2099-01-01T00:00:00Z",
            ],
            "notification": ["name": "Digest", "alert": ["body": "Hi"], "to": ["tag": "beta"]],
        ]
        let added = try await provider.api.post("/v1/apps/\(Vectors.bundleID)/schedules", schedule)
        let id = try #require(added.json["id"].stringValue)
        return (id, "\(Self.app)/schedules/\(id)")
    }

    private static let edited = [
        "name": "weekly", "body": "Hi", "audience": "tag", "tag": "beta", "when": "recurring", "frequency": "daily",
        "time": "10:00", "zone": "UTC", "action": "confirmed",
    ]

    @Test func aChangeKeepsWhatTheFormDoesNotShow() async throws {
        try await self.withApp { provider, browser in
            let (id, path) = try await Self.add(provider)
            let before = try await provider.api.get("/v1/schedules/\(id)").json
            let edit = try await browser.get("\(path)/edit")
            let fields = Self.edited.merging(["fingerprint": try #require(edit.hidden("fingerprint"))]) { $1 }
            #expect(try await browser.post("\(path)/edit", fields, from: edit).path == "\(path)?done=saved")
            let after = try await provider.api.get("/v1/schedules/\(id)").json
            #expect(after["schedule"] == before["schedule"].merging(["cron": "0 10 * * *"]))
            #expect(after["schedule"]["missedRuns"] == "skip" && after["schedule"]["until"] != .null)
            #expect(after["notification"]["name"] == "Digest" && after["name"] == "weekly")
        }
    }

    @Test func aChangeOfSomebodyElseIsNotReplacedUnseen() async throws {
        try await self.withApp { provider, browser in
            let (id, path) = try await Self.add(provider)
            let edit = try await browser.get("\(path)/edit")
            let seen = try #require(edit.hidden("fingerprint"))
            let theirs: JSONValue = [
                "name": "theirs", "schedule": ["cron": "0 7 * * *", "timeZone": "UTC"],
                "notification": ["alert": "Theirs", "to": ["tag": "beta"]],
            ]
            #expect(try await provider.api.put("/v1/schedules/\(id)", theirs).status == 200)
            for action in ["", "confirmed"] {
                let fields = Self.edited.merging(["fingerprint": seen, "action": action]) { $1 }
                let refused = try await browser.post("\(path)/edit", fields, from: edit)
                #expect(refused.status == 409 && refused.contains("Somebody has changed this schedule"))
                #expect(refused.contains("value=\"10:00\"") && refused.hidden("fingerprint") != seen)
            }
            #expect(try await provider.api.get("/v1/schedules/\(id)").json["name"] == "theirs")
            let shown = try await browser.post(
                "\(path)/edit",
                Self.edited.merging(["fingerprint": seen]) { $1 },
                from: edit
            )
            let again = Self.edited.merging(["fingerprint": try #require(shown.hidden("fingerprint"))]) { $1 }
            #expect(try await browser.post("\(path)/edit", again, from: edit).path == "\(path)?done=saved")
        }
    }

    @Test func anotherAppsScheduleIsNotFound() async throws {
        try await self.withApp { provider, browser in
            let (id, _) = try await Self.add(provider)
            _ = try await provider.api.post("/v1/apps", ["bundleId": "com.example.Other"])
            let other = "/dashboard/apps/com.example.Other/schedules/\(id)"
            let page = try await browser.get("\(other)/edit")
            #expect(page.status == 404)
            #expect(try await browser.post("\(other)/edit", Self.edited, from: page).status == 404)
            #expect(try await provider.api.get("/v1/schedules/\(id)").json["schedule"]["cron"] == "0 9 * * mon")
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
