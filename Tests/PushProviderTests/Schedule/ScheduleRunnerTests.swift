import Foundation
import PushProtocol
import PushProvider
import PushStore
import PushTesting
import Testing

/// Notifications that have their time, and what runs by itself.
@Suite(.timeLimit(.minutes(1))) struct ScheduleRunnerTests {
    @Test(arguments: StoreBackend.available)
    func whatIsScheduledWaitsForItsTime(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...2)
            let at = fixture.time.now.advanced(by: .seconds(3600))
            let notification = try await fixture.accept(["when": ["at": .integer(at.milliseconds)]])
            #expect(notification.state == .scheduled)
            try await fixture.settle()
            #expect(fixture.sender.sent.isEmpty)
            // Who registers before it is opened gets it too.
            try await fixture.register(3...3)
            fixture.time.advance(by: .seconds(3600))
            try await fixture.settle()
            #expect(fixture.sender.sent.count == 3)
            #expect(try await fixture.progress(of: notification).state == .done)
        }
    }

    @Test(arguments: StoreBackend.available)
    func eachTimeZoneHasItsOwnMorning(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let zones = ["Asia/Tokyo", "Europe/Berlin", "America/New_York"]
            for (index, zone) in zones.enumerated() {
                try await fixture.register(index + 1...index + 1) { $0.timeZone = .set(zone) }
            }
            try await fixture.register(4...4)
            // The vectors' moment is 2023-11-14 22:13 UTC.
            let notification = try await fixture.accept([
                "when": ["localTime": "2023-11-16T09:00", "defaultTimeZone": "Europe/Berlin"]
            ])
            var arrivals: [DeviceToken: Timestamp] = [:]
            for _ in 0..<(3 * 24 * 2) {
                let before = fixture.sender.sent.count
                try await fixture.settle()
                for push in fixture.sender.sent.dropFirst(before) { arrivals[push.token] = fixture.time.now }
                fixture.time.advance(by: .seconds(1800))
            }
            #expect(fixture.sender.sent.count == 4)
            #expect(try await fixture.progress(of: notification).state == .done)
            let hours = try (1...4).map { number in
                let at = try #require(arrivals[.numbered(number)])
                return at.seconds / 3600
            }
            // 09:00 in Tokyo is midnight UTC, in Berlin 08:00, in New York 14:00.
            #expect(hours[1] - hours[0] == 8)
            #expect(hours[2] - hours[1] == 6)
            #expect(hours[3] == hours[1])
        }
    }

    @Test(arguments: StoreBackend.available)
    func whoMovesBetweenZonesGetsItOnce(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1) { $0.timeZone = .set("Asia/Tokyo") }
            try await fixture.register(2...2) { $0.timeZone = .set("America/New_York") }
            try await fixture.accept(["when": ["localTime": "2023-11-16T09:00", "defaultTimeZone": "UTC"]])
            for hour in 0..<72 {
                try await fixture.settle()
                // One goes west after it got it, the other east before.
                if hour == 30 {
                    try await fixture.register(1...1) { $0.timeZone = .set("America/New_York") }
                    try await fixture.register(2...2) { $0.timeZone = .set("Asia/Tokyo") }
                }
                fixture.time.advance(by: .seconds(3600))
            }
            #expect(fixture.sentTokens.sorted { $0.hex < $1.hex } == [.numbered(1), .numbered(2)])
        }
    }

    @Test(arguments: StoreBackend.available, ["atLeastOnce", "atMostOnce"])
    func whoIsBeingSentToIsNotLeftOver(backend: StoreBackend, guarantee: String) async throws {
        try await DispatchFixture.run(backend, page: 10) { fixture in
            try await fixture.register(1...35) { $0.timeZone = .set("Europe/Berlin") }
            let notification = try await fixture.accept([
                "when": ["window": ["from": "00:00", "to": "23:59"]], "guarantee": .string(guarantee),
            ])
            // Four places at the same time.
            try await withServices([fixture.dispatcher]) {
                while try await fixture.store.notification(notification.id)?.state != .done {
                    try Task.checkCancellation()
                }
            }
            #expect(fixture.sender.sent.count == 35)
            #expect(Set(fixture.sentTokens).count == 35)
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatNobodyIsToGetIsDone(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...3) { $0.timeZone = .set("Europe/Berlin") }
            // 2023-11-14 22:13 UTC is 23:13 in Berlin.
            let notification = try await fixture.accept([
                "when": [
                    "localTime": "2023-11-14T20:00", "past": "skip", "defaultTimeZone": "Europe/Berlin",
                ]
            ])
            try await fixture.settle()
            #expect(try await fixture.progress(of: notification).state == .done)
            #expect(fixture.sender.sent.isEmpty)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aWindowStopsACampaignForTheNight(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 1) { fixture in
            try await fixture.register(1...3)
            let notification = try await fixture.accept([
                "when": ["window": ["from": "22:00", "to": "22:30"], "timeZone": "UTC"]
            ])
            let dispatcher = fixture.dispatcher
            _ = try await dispatcher.step()
            #expect(fixture.sender.sent.count == 1)
            fixture.time.advance(by: .seconds(3600))
            try await fixture.settle(dispatcher)
            #expect(fixture.sender.sent.count == 1)
            fixture.time.advance(by: .seconds(23 * 3600))
            try await fixture.settle(dispatcher)
            #expect(fixture.sender.sent.count == 3)
            #expect(try await fixture.progress(of: notification).state == .done)
        }
    }

    @Test(arguments: StoreBackend.available)
    func wavesGoOnAfterARestart(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            try await fixture.register(1...7)
            let notification = try await fixture.accept([
                "pace": ["waves": ["size": 3, "intervalSeconds": 600]]
            ])
            // A new dispatcher each time: nothing but the store remembers.
            for expected in [3, 6, 7] {
                try await fixture.settle()
                try await fixture.settle()
                #expect(fixture.sender.sent.count == expected)
                fixture.time.advance(by: .seconds(600))
            }
            try await fixture.settle()
            #expect(try await fixture.progress(of: notification).state == .done)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aScheduleSendsEachRunOnce(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            let schedule = try self.schedule(fixture, rule: ["cron": "0 * * * *", "timeZone": "UTC"])
            try await fixture.store.addSchedule(schedule)
            for _ in 0..<6 {
                fixture.time.advance(by: .seconds(1800))
                try await fixture.settle()
            }
            #expect(fixture.sender.sent.count == 3)
            let listed = try await fixture.store.notifications(app: fixture.app, state: nil, before: nil, limit: 10)
            #expect(Set(listed.notifications.compactMap(\.run?.at)).count == 3)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aCrashBetweenTheTwoWritesRepeatsNoRun(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            let schedule = try self.schedule(fixture, rule: ["cron": "0 * * * *", "timeZone": "UTC"])
            try await fixture.store.addSchedule(schedule)
            fixture.time.advance(by: .seconds(3600))
            try await fixture.settle()
            // The notification is there, but the schedule was not written.
            _ = try await fixture.store.updateSchedule(schedule)
            try await fixture.settle()
            #expect(fixture.sender.sent.count == 1)
        }
    }

    private func schedule(_ fixture: DispatchFixture, rule: JSONValue) throws -> ScheduleRecord {
        let request: JSONValue = ["to": ["all": true], "alert": "Tick"]
        let parsed = try RecurringSchedule(stored: rule)
        return ScheduleRecord(
            id: UUID(),
            app: fixture.app,
            name: "hourly",
            request: try request.text,
            rule: try rule.text,
            nextRunAt: parsed.nextRun(after: fixture.time.now),
            createdAt: fixture.time.now
        )
    }
}
