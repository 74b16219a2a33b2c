import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// Runs of many schedules, of several apps, and what people decide meanwhile.
@Suite(.timeLimit(.patience)) struct ScheduleWorkersTests {
    @Test func anAppHasOneWorkerAndAllTogetherHaveAFew() {
        let (workers, now) = (ScheduleWorkers(), ContinuousClock.now)
        for app in 1...Int64(ScheduleWorkers.maximum) {
            #expect(workers.start(app))
            #expect(!workers.start(app), "it has its turn already")
        }
        #expect(workers.isFull)
        #expect(workers.unavailable(at: now) == nil)
        #expect(!workers.start(99))
        workers.finish(1, pausedUntil: now + .seconds(5))
        #expect(!workers.isFull)
        #expect(workers.unavailable(at: now)?.contains(1) == true, "what failed is not tried again at once")
        #expect(workers.timeUntilResumed(now) == .seconds(5))
        #expect(workers.unavailable(at: now + .seconds(6))?.contains(1) == true, "it had its turn")
        #expect(workers.beginRound())
        #expect(!workers.beginRound(), "none had a turn in this one")
        #expect(workers.unavailable(at: now + .seconds(6))?.contains(1) == false)
        #expect(workers.start(1))
    }

    /// Each app has a turn before any has its second, and the work of one turn is not all that an app has.
    @Test(arguments: StoreBackend.available)
    func manyAppsWithMuchWorkTakeTurns(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let store = fixture.store
            for number in 0..<ScheduleWorkers.maximum {
                let bundleID = try #require(Topic("slow\(number)"))
                let app = try await store.addApp(bundleID: bundleID, name: nil, now: fixture.time.now).app.id
                try await store.register(1, app: app)
                for run in 0..<2 { try await store.addSchedule(try fixture.schedule("\(number).\(run)", app: app)) }
            }
            try await store.addSchedule(try fixture.schedule("theirs", cron: "1 * * * *"))
            try await fixture.register(1...1)
            fixture.time.advance(by: .seconds(3600))
            let gate = Gate()
            let counted = Mutex<Set<Int64>>([])
            let runner = Self.runner(fixture) { notification, audience in
                // The second count of each of the others takes long.
                let isFirst = counted.withLock { $0.insert(notification.app).inserted }
                if !isFirst { await gate.pass() }
                return try await store.count(
                    app: notification.app,
                    audience: audience,
                    environment: notification.environment
                )
            }
            try await withServices([runner]) {
                defer { gate.open() }
                try await eventually {
                    try await !store.notifications(app: fixture.app, state: nil, before: nil, limit: 9).notifications
                        .isEmpty
                }
            }
        }
    }

    /// Of ten schedules that were deleted six still sent.
    @Test(arguments: StoreBackend.available)
    func schedulesChangedDuringARunSendNothing(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            var schedules: [ScheduleRecord] = []
            for number in 0..<10 { schedules.append(try fixture.schedule("\(number)")) }
            for schedule in schedules { try await fixture.store.addSchedule(schedule) }
            fixture.time.advance(by: .seconds(3600))
            // The first run that is counted finds everybody busy with the others.
            let isFirst = Mutex(true)
            let store = fixture.store
            let others = schedules.map(\.id)
            let runner = Self.runner(fixture) { notification, audience in
                if isFirst.withLock({ first in
                    defer { first = false }; return first
                }) {
                    for (index, id) in others.enumerated().dropFirst() {
                        switch index % 3 {
                        case 0: _ = try await store.deleteSchedule(id)
                        case 1: try await store.changeSchedule(id, .pause(version: nil))
                        default:
                            let later = ScheduleChange.replace(
                                name: "later",
                                request: Data("{}".utf8),
                                rule: try fixture.schedule(cron: "0 0 1 1 *").rule,
                                nextRunAt: fixture.time.now.advanced(by: .seconds(86_400))
                            )
                            try await store.changeSchedule(id, later)
                        }
                    }
                }
                return try await store.count(
                    app: notification.app,
                    audience: audience,
                    environment: notification.environment
                )
            }
            while await runner.step() {}
            let listed = try await store.notifications(app: nil, state: nil, before: nil, limit: 100)
            #expect(listed.notifications.compactMap(\.run?.schedule) == [schedules[0].id])
            for schedule in try await store.schedules(app: fixture.app).dropFirst() {
                #expect(schedule.lastRunAt == nil, "it has not run")
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func slowAudiencesOfAnAppDelayNoOther(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let store = fixture.store
            let slow = try await store.addApp(bundleID: try #require(Topic("slow")), name: nil, now: fixture.time.now)
                .app.id
            // More than one look finds.
            for number in 0..<60 { try await store.addSchedule(try fixture.schedule("\(number)", app: slow)) }
            let theirs = try fixture.schedule("theirs", cron: "1 * * * *")
            try await store.addSchedule(theirs)
            try await fixture.register(1...1)
            fixture.time.advance(by: .seconds(3600))
            let gate = Gate()
            let runner = Self.runner(fixture) { notification, audience in
                if notification.app == slow { await gate.pass() }
                return try await store.count(
                    app: notification.app,
                    audience: audience,
                    environment: notification.environment
                )
            }
            try await withServices([runner]) {
                defer { gate.open() }
                for hour in 1...3 {
                    try await eventually {
                        try await store.notifications(app: fixture.app, state: nil, before: nil, limit: 9).notifications
                            .count >= hour
                    }
                    fixture.time.advance(by: .seconds(3600))
                }
                let none = try await store.notifications(app: slow, state: nil, before: nil, limit: 9)
                #expect(none.notifications.isEmpty, "its first run is still being counted")
                gate.open()
                try await eventually {
                    try await store.notifications(app: slow, state: nil, before: nil, limit: 100).notifications.count
                        >= 60
                }
            }
        }
    }

    private static func runner(
        _ fixture: DispatchFixture,
        _ count: @escaping NotificationPlanner.CountDevices
    ) -> ScheduleRunner {
        var settings = ScheduleRunner.Settings()
        (settings.sleep, settings.turn) = (.milliseconds(20), .zero)
        return ScheduleRunner(
            store: fixture.store,
            acceptor: NotificationAcceptor(
                store: fixture.store,
                wakes: fixture.wakes,
                opener: NotificationOpener(
                    store: fixture.store,
                    wakes: fixture.wakes,
                    time: fixture.time,
                    countDevices: count
                ),
                time: fixture.time
            ),
            wake: WakeSignal(),
            settings: settings,
            lines: Budget(.logLines),
            time: fixture.time,
            logger: silentLogger
        )
    }
}
