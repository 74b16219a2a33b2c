import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

/// The contract of every ``ScheduleStore``.
@Suite(.timeLimit(.patience)) struct ScheduleStoreContract: StoreContract {
    @Test(arguments: StoreBackend.available)
    func aScheduleReadsBackChangesAndGoes(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var schedule = try self.schedule(app, after: 0, nextRun: 60)
            try await store.addSchedule(schedule)
            #expect(try await store.schedule(schedule.id) == schedule)
            schedule.name = "evening"
            schedule.nextRunAt = nil
            schedule.rule = try RecurringSchedule(stored: ["cron": "@daily", "timeZone": "Europe/Berlin"])
            schedule.version = 1
            #expect(try await store.changeSchedule(schedule.id, schedule.asReplacement) == .changed(schedule))
            #expect(try await store.schedule(schedule.id) == schedule)
            #expect(try await store.nextScheduleRun() == nil)
            #expect(try await store.deleteSchedule(schedule.id))
            #expect(try await !store.deleteSchedule(schedule.id))
            #expect(try await store.changeSchedule(schedule.id, schedule.asReplacement) == .missing)
            #expect(try await store.changeSchedule(schedule.id, .pause(version: nil)) == .missing)
            #expect(try await store.schedule(schedule.id) == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func dueSchedulesComeInTheOrderOfTheirRuns(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let late = try self.schedule(app, after: 0, nextRun: 30)
            let early = try self.schedule(app, after: 1, nextRun: 10)
            let paused = try self.schedule(app, after: 2, nextRun: 5, isPaused: true)
            let ended = try self.schedule(app, after: 3, nextRun: nil)
            for schedule in [late, early, paused, ended] { try await store.addSchedule(schedule) }
            #expect(try await store.schedules(app: app).map(\.id) == [late, early, paused, ended].map(\.id))
            #expect(try await store.schedules(app: app + 1).isEmpty)
            #expect(try await store.nextScheduleRun() == self.now.advanced(by: .seconds(10)))
            func due(_ seconds: Int, limit: Int = 10) async throws -> [UUID] {
                let now = self.now.advanced(by: .seconds(seconds))
                return try await store.dueSchedules(now: now, limit: limit).schedules.map(\.id)
            }
            #expect(try await due(9).isEmpty)
            #expect(try await due(10) == [early.id])
            #expect(try await due(99) == [early.id, late.id])
            #expect(try await due(99, limit: 1) == [early.id])
        }
    }

    @Test(arguments: StoreBackend.available)
    func aRunUndoesNoChangeOfAPerson(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let old = try self.schedule(app, after: 0, nextRun: 10)
            try await store.addSchedule(old)
            var schedule = old
            (schedule.name, schedule.isPaused, schedule.version) = ("evening", true, 2)
            try await store.changeSchedule(old.id, schedule.asReplacement)
            #expect(try await store.changeSchedule(old.id, .pause(version: nil)) == .changed(schedule))
            let (run, next) = (self.now.advanced(by: .seconds(10)), self.now.advanced(by: .seconds(20)))
            try await store.advanceSchedule(old.id, from: run, to: next, lastRunAt: run)
            (schedule.nextRunAt, schedule.lastRunAt) = (next, run)
            #expect(try await store.schedule(old.id) == schedule)
            // It has advanced, or has another next run.
            try await store.advanceSchedule(old.id, from: run, to: nil, lastRunAt: nil)
            #expect(try await store.schedule(old.id) == schedule)
            // A change of a record read before the run does not undo it.
            try await store.changeSchedule(old.id, old.asReplacement)
            #expect(try await store.schedule(old.id)?.lastRunAt == run)
            #expect(try await store.schedule(old.id)?.isPaused == true, "a replacement leaves the pause")
            // Only one that has ended continues.
            try await store.advanceSchedule(old.id, from: nil, to: next, lastRunAt: run)
            #expect(try await store.schedule(old.id)?.nextRunAt == run)
            try await store.advanceSchedule(old.id, from: run, to: nil, lastRunAt: run)
            #expect(try await store.schedule(old.id)?.nextRunAt == nil)
            try await store.advanceSchedule(old.id, from: nil, to: next, lastRunAt: run)
            #expect(try await store.schedule(old.id)?.nextRunAt == next)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aNextRunIsNotSetFromARuleThatIsGone(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var schedule = try self.schedule(app, after: 0, nextRun: 10, isPaused: true)
            try await store.addSchedule(schedule)
            try await store.changeSchedule(schedule.id, schedule.asReplacement)
            let next = self.now.advanced(by: .seconds(99))
            let stale = ScheduleChange.resume(nextRunAt: next, version: 0)
            #expect(try await store.changeSchedule(schedule.id, stale) == .stale)
            #expect(try await store.changeSchedule(schedule.id, .pause(version: 0)) == .stale)
            (schedule.nextRunAt, schedule.isPaused, schedule.version) = (next, false, 2)
            let resumed = ScheduleChange.resume(nextRunAt: next, version: 1)
            #expect(try await store.changeSchedule(schedule.id, resumed) == .changed(schedule))
            // It is not paused: nothing is to be done.
            let again = ScheduleChange.resume(nextRunAt: nil, version: 2)
            #expect(try await store.changeSchedule(schedule.id, again) == .changed(schedule))
        }
    }

    @Test(arguments: StoreBackend.available)
    func schedulesAreListedInPagesWithoutLargeRequests(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let other = try await store.addApp(bundleID: try #require(Topic("b")), name: nil, now: self.now).app.id
            var ids: [UUID] = []
            for number in 0..<7 {
                var mine = try self.schedule(app, after: number, nextRun: nil)
                mine.request = Data(repeating: 32, count: number == 3 ? 11 : 10)
                try await store.addSchedule(mine)
                try await store.addSchedule(try self.schedule(other, after: number, nextRun: nil))
                ids.append(mine.id)
            }
            var (found, cursor) = ([ScheduleList.Entry](), ScheduleCursor?.none)
            repeat {
                let page = try await store.schedules(app: app, after: cursor, limit: 3, longestRequest: 10)
                #expect(page.entries.count <= 3)
                found += page.entries
                cursor = page.next
            } while cursor != nil
            #expect(found.map(\.schedule.id) == ids)
            #expect(found.map(\.requestBytes) == [10, 10, 10, 11, 10, 10, 10])
            #expect(found.map(\.schedule.request.count) == [10, 10, 10, 0, 10, 10, 10])
        }
    }

    @Test(arguments: StoreBackend.available)
    func anAppHasSoManySchedulesAndSoMuchInThem(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let other = try await store.addApp(bundleID: try #require(Topic("b")), name: nil, now: self.now).app.id
            var limits = ScheduleLimits()
            (limits.count, limits.bytes) = (3, 100)
            func schedule(_ bytes: Int, app: Int64) throws -> ScheduleRecord {
                var schedule = try self.schedule(app, after: 0, nextRun: nil)
                schedule.request = Data(repeating: 32, count: bytes)
                return schedule
            }
            let first = try schedule(60, app: app)
            #expect(try await store.addSchedule(first, limits: limits) == .changed(first))
            #expect(try await store.addSchedule(try schedule(41, app: app), limits: limits) == .tooLarge)
            for _ in 1...2 { _ = try await store.addSchedule(try schedule(20, app: app), limits: limits) }
            #expect(try await store.addSchedule(try schedule(0, app: app), limits: limits) == .tooMany)
            let others = try schedule(100, app: other)
            #expect(try await store.addSchedule(others, limits: limits) == .changed(others))
            let larger = try schedule(61, app: app).asReplacement
            #expect(try await store.changeSchedule(first.id, larger, limits: limits) == .tooLarge)
            // An existing request may stay or shrink, however small the limits have become.
            limits.bytes = 10
            let same = try schedule(60, app: app).asReplacement
            guard case .changed = try await store.changeSchedule(first.id, same, limits: limits) else {
                Issue.record("it is not larger than before")
                return
            }
            #expect(try await store.schedules(app: app).count == 3)
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatIsDueOfBusyAppsIsLeftOut(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let other = try await store.addApp(bundleID: try #require(Topic("b")), name: nil, now: self.now).app.id
            for number in 1...3 { try await store.addSchedule(try self.schedule(app, after: 0, nextRun: number)) }
            let theirs = try self.schedule(other, after: 0, nextRun: 9)
            try await store.addSchedule(theirs)
            let later = self.now.advanced(by: .seconds(10))
            let due = try await store.dueSchedules(now: later, limit: 2, excluding: [app])
            #expect(due.schedules == [theirs])
            #expect(try await store.nextScheduleRun(excluding: [app]) == theirs.nextRunAt)
            #expect(try await store.nextScheduleRun(excluding: [app, other]) == nil)
        }
    }

    private func schedule(_ app: Int64, after: Int, nextRun: Int?, isPaused: Bool = false) throws -> ScheduleRecord {
        let createdAt = self.now.advanced(by: .seconds(after))
        var schedule = try ScheduleRecord.fixture(app: app, name: "morning", createdAt: createdAt)
        schedule.nextRunAt = nextRun.map { self.now.advanced(by: .seconds($0)) }
        schedule.isPaused = isPaused
        return schedule
    }
}

extension ScheduleRecord {
    /// The change that makes a schedule this one.
    fileprivate var asReplacement: ScheduleChange {
        .replace(name: self.name, request: self.request, rule: self.rule, nextRunAt: self.nextRunAt)
    }
}
