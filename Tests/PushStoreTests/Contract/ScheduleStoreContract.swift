import Foundation
import PushProtocol
import PushStore
import PushTesting
import Testing

/// What every store of schedules must do.
@Suite(.timeLimit(.minutes(5))) struct ScheduleStoreContract {
    let now = Vectors.issuedAt

    @Test(arguments: StoreBackend.available)
    func aScheduleReadsBackChangesAndGoes(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var schedule = self.schedule(app, after: 0, nextRun: 60)
            try await store.addSchedule(schedule)
            #expect(try await store.schedule(schedule.id) == schedule)
            schedule.name = "evening"
            schedule.nextRunAt = nil
            schedule.rule = Data("{}".utf8)
            #expect(try await store.updateSchedule(schedule))
            #expect(try await store.schedule(schedule.id) == schedule)
            #expect(try await store.nextScheduleRun() == nil)
            #expect(try await store.deleteSchedule(schedule.id))
            #expect(try await !store.deleteSchedule(schedule.id))
            #expect(try await !store.updateSchedule(schedule))
            #expect(try await store.schedule(schedule.id) == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func dueSchedulesComeInTheOrderOfTheirRuns(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let late = self.schedule(app, after: 0, nextRun: 30)
            let early = self.schedule(app, after: 1, nextRun: 10)
            let paused = self.schedule(app, after: 2, nextRun: 5, isPaused: true)
            let ended = self.schedule(app, after: 3, nextRun: nil)
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
    func aRunChangesNothingThatSomebodyDecidedMeanwhile(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let old = self.schedule(app, after: 0, nextRun: 10)
            try await store.addSchedule(old)
            var schedule = old
            (schedule.name, schedule.isPaused) = ("evening", true)
            #expect(try await store.updateSchedule(schedule))
            let (run, next) = (self.now.advanced(by: .seconds(10)), self.now.advanced(by: .seconds(20)))
            try await store.advanceSchedule(old.id, from: run, to: next, lastRunAt: run)
            (schedule.nextRunAt, schedule.lastRunAt) = (next, run)
            #expect(try await store.schedule(old.id) == schedule)
            // It has gone on, or was given another next run.
            try await store.advanceSchedule(old.id, from: run, to: nil, lastRunAt: nil)
            #expect(try await store.schedule(old.id) == schedule)
            // What was read before the run does not undo it.
            #expect(try await store.updateSchedule(old))
            #expect(try await store.schedule(old.id)?.lastRunAt == run)
            try await store.advanceSchedule(old.id, from: run, to: nil, lastRunAt: run)
            #expect(try await store.schedule(old.id)?.nextRunAt == nil)
        }
    }

    private func schedule(_ app: Int64, after: Int, nextRun: Int?, isPaused: Bool = false) -> ScheduleRecord {
        ScheduleRecord(
            id: UUID(),
            app: app,
            name: "morning",
            request: Data(#"{"audience":{"all":true}}"#.utf8),
            rule: Data(#"{"cron":"0 8 * * *"}"#.utf8),
            nextRunAt: nextRun.map { self.now.advanced(by: .seconds($0)) },
            isPaused: isPaused,
            createdAt: self.now.advanced(by: .seconds(after))
        )
    }
}
