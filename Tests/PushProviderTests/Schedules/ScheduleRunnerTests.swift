import Foundation
import Logging
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider
@testable import PushStore

/// Notifications that have their time, and what runs by itself.
@Suite(.timeLimit(.patience)) struct ScheduleRunnerTests {
    @Test(arguments: StoreBackend.available)
    func scheduledNotificationsWaitForTheirTime(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...2)
            let at = fixture.time.now.advanced(by: .seconds(3600))
            let notification = try await fixture.accept(["when": ["at": .integer(at.milliseconds)]])
            #expect(notification.state == .scheduled)
            try await fixture.settle()
            #expect(fixture.sender.sent.isEmpty)
            // Who registers before it is opened gets it too.
            try await fixture.register(3...3)
            try await fixture.settle(after: .seconds(3600))
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
            // The vectors' timestamp is 2023-11-14 22:13 UTC.
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
    func devicesThatMoveBetweenZonesGetItOnce(backend: StoreBackend) async throws {
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

    /// A device that moved to a zone whose shard has ended is in the last shard, with times of its own.
    @Test(arguments: StoreBackend.available, ["atLeastOnce", "atMostOnce"])
    func recipientsLeftOverHaveTheirOwnHours(backend: StoreBackend, guarantee: String) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...2) { $0.timeZone = .set("Asia/Tokyo") }
            try await fixture.register(3...3) { $0.timeZone = .set("America/New_York") }
            let notification = try await fixture.accept([
                "when": ["window": ["from": "09:00", "to": "10:00"], "defaultTimeZone": "UTC"],
                "guarantee": .string(guarantee),
            ])
            // 22:13 UTC: in New York the hour is 14:00 to 15:00 UTC, in Tokyo 00:00 to 01:00, in Honolulu 19:00 to 20:00.
            try await fixture.settle()
            #expect(fixture.sender.sent.isEmpty)
            try await fixture.register(2...2) { $0.timeZone = .set("Pacific/Honolulu") }
            var arrivals: [DeviceToken: Int64] = [:]
            for _ in 0..<96 {
                let before = fixture.sender.sent.count
                try await fixture.settle()
                for push in fixture.sender.sent.dropFirst(before) {
                    arrivals[push.token] = fixture.time.now.seconds / 3600 % 24
                }
                fixture.time.advance(by: .seconds(1800))
            }
            #expect(arrivals == [.numbered(1): 0, .numbered(2): 19, .numbered(3): 14])
            #expect(fixture.sender.sent.count == 3)
            #expect(try await fixture.progress(of: notification).state == .done)
        }
    }

    /// Devices that were too late stay left out.
    @Test(arguments: StoreBackend.available)
    func devicesThatMoveAreNotSkipped(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...2) { $0.timeZone = .set("America/New_York") }
            try await fixture.register(3...3) { $0.timeZone = .set("Asia/Tokyo") }
            // 23:00 was at 14:00 UTC in Tokyo, an hour before now in Berlin, and comes at 04:00 UTC in New York.
            let notification = try await fixture.accept([
                "when": ["localTime": "2023-11-14T23:00", "past": "skip", "defaultTimeZone": "UTC"]
            ])
            try await fixture.settle()
            try await fixture.register(2...2) { $0.timeZone = .set("America/Chicago") }
            try await fixture.settle(after: .seconds(1800), times: 48)
            #expect(fixture.sentTokens.sorted { $0.hex < $1.hex } == [.numbered(1), .numbered(2)])
            #expect(try await fixture.progress(of: notification).state == .done)
        }
    }

    @Test(arguments: StoreBackend.available, ["atLeastOnce", "atMostOnce"])
    func recipientsInFlightAreNotLeftOver(backend: StoreBackend, guarantee: String) async throws {
        try await DispatchFixture.run(backend, page: 10) { fixture in
            try await fixture.register(1...35) { $0.timeZone = .set("Europe/Berlin") }
            let notification = try await fixture.accept([
                "when": ["window": ["from": "00:00", "to": "23:59"]], "guarantee": .string(guarantee),
            ])
            // Four slots at the same time.
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
    func notificationsWithoutRecipientsAreDone(backend: StoreBackend) async throws {
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
            try await fixture.settle(dispatcher, after: .seconds(3600))
            #expect(fixture.sender.sent.count == 1)
            try await fixture.settle(dispatcher, after: .seconds(23 * 3600))
            #expect(fixture.sender.sent.count == 3)
            #expect(try await fixture.progress(of: notification).state == .done)
        }
    }

    @Test(arguments: StoreBackend.available)
    func wavesContinueAfterARestart(backend: StoreBackend) async throws {
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
            try await fixture.addSchedule()
            try await fixture.settle(after: .seconds(1800), times: 6)
            #expect(fixture.sender.sent.count == 3)
            let listed = try await fixture.store.notifications(app: fixture.app, state: nil, before: nil, limit: 10)
            #expect(Set(listed.notifications.compactMap(\.run?.at)).count == 3)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aRunIsLoggedAndSoAreMissedOnes(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let log = RecordedLog(level: .info)
            let scheduler = fixture.scheduler(log.logger)
            let schedule = try await fixture.addSchedule()
            let first = try #require(schedule.nextRunAt)
            fixture.time.advance(by: .seconds(3600))
            while await scheduler.step() {}
            let id = ScheduleRunner.id(of: schedule.id, run: first)
            let subject = "app=\(Vectors.bundleID) notification=\(id)"
            #expect(log.lines == ["schedule run was made \(subject) run=\(first.rfc3339) schedule=\(schedule.id)"])
            fixture.time.advance(by: .seconds(3 * 3600))
            while await scheduler.step() {}
            let since = first.advanced(by: .seconds(3600)).rfc3339
            #expect(
                log.lines.dropFirst().first == "schedule runs were missed made=1 schedule=\(schedule.id) since=\(since)"
            )
            #expect(log.lines.count == 3)
        }
    }

    @Test(arguments: StoreBackend.available)
    func missedRunsStayKnownUntilTheNextRunWhateverWasKnownBefore(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let scheduler = fixture.scheduler(RecordedLog(level: .info).logger)
            let schedule = try await fixture.addSchedule()
            let earlier = ScheduleProblem(message: "earlier", at: fixture.time.now)
            try await fixture.store.setProblem(earlier, ofSchedule: schedule.id)
            fixture.time.advance(by: .seconds(4 * 3600))
            while await scheduler.step() {}
            let missed = try #require(try await fixture.store.schedule(schedule.id)?.problem)
            #expect(missed.message.contains("were missed"))
            fixture.time.advance(by: .seconds(3600))
            while await scheduler.step() {}
            #expect(try await fixture.store.schedule(schedule.id)?.problem == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aCrashBetweenTheTwoWritesRepeatsNoRun(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let schedule = try await fixture.addSchedule()
            try await fixture.settle(after: .seconds(3600))
            // The notification is there, but the schedule was not written.
            let back = ScheduleChange.replace(
                name: schedule.name,
                request: schedule.request,
                rule: schedule.rule,
                nextRunAt: schedule.nextRunAt
            )
            _ = try await fixture.store.changeSchedule(schedule.id, back)
            try await fixture.settle()
            #expect(fixture.sender.sent.count == 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aScheduleThatFailsDoesNotStopTheOthers(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            let (broken, sound) = (try fixture.schedule(), try fixture.schedule(cron: "1 * * * *"))
            for schedule in [broken, sound] { try await fixture.store.addSchedule(schedule) }
            // Its run cannot be stored: the id is taken.
            let run = try #require(broken.nextRunAt)
            let id = ScheduleRunner.id(of: broken.id, run: run)
            let taken = try await fixture.store.start(app: fixture.app, to: .tokens([.numbered(2)])) { $0.id = id }
            try await fixture.settle(after: .seconds(3600))
            #expect(try await fixture.store.schedule(broken.id)?.nextRunAt == run)
            #expect(try await fixture.store.schedule(sound.id)?.lastRunAt == sound.nextRunAt)
            #expect(try await fixture.store.notification(id)?.run == nil)
            #expect(taken.id == id)
        }
    }

    /// It is paused; nothing is looked at over and over again.
    @Test(arguments: StoreBackend.available)
    func aScheduleThatCannotBeReadDoesNotStopTheOthers(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            let (broken, sound) = (try fixture.schedule(), try fixture.schedule(cron: "1 * * * *"))
            for schedule in [broken, sound] { try await fixture.store.addSchedule(schedule) }
            let store = try #require(fixture.store as? SQLStore)
            try await store.database.run(sql: "UPDATE schedule SET id = 'x' WHERE id = ?", [broken.id.uuidString])
            try await fixture.settle(after: .seconds(3600))
            #expect(fixture.sender.sent.count == 1)
            #expect(try await store.schedule(sound.id)?.lastRunAt == sound.nextRunAt)
            try await store.database.run(sql: "DELETE FROM schedule WHERE id = 'x'")
        }
    }
}
