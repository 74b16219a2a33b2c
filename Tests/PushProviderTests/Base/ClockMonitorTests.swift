import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

@Suite(.timeLimit(.patience)) struct ClockMonitorTests {
    private func keeper(_ fixture: DispatchFixture) -> ClockMonitor {
        ClockMonitor(
            store: fixture.store,
            stateMachine: ClockStateMachine(mark: nil, wall: fixture.time.now),
            time: fixture.time,
            wakes: [],
            logger: silentLogger
        )
    }

    /// Every hour, beginning with the next.
    private func addSchedule(_ fixture: DispatchFixture) async throws -> UUID {
        let schedule = try fixture.schedule()
        try await fixture.store.addSchedule(schedule)
        return schedule.id
    }

    @Test(arguments: StoreBackend.available)
    func aScheduleContinuesAfterTheClockWasAhead(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            let id = try await self.addSchedule(fixture)
            let keeper = self.keeper(fixture)
            await keeper.step(isStart: true)
            fixture.time.step(by: .seconds(40 * 86_400))
            await keeper.step()
            try await fixture.settle()
            fixture.time.step(by: .seconds(-40 * 86_400))
            await keeper.step()
            let sent = fixture.sender.sent.count
            #expect(sent <= 1)
            #expect(try await fixture.store.schedule(id)?.nextRunAt == Timestamp(seconds: 1_700_002_800))
            try await fixture.settle(after: .seconds(3600))
            #expect(fixture.sender.sent.count == sent + 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aScheduleThatEndedByAClockAheadContinues(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            var schedules: [ScheduleRecord] = []
            for _ in 1...3 {
                var schedule = try fixture.schedule()
                schedule.rule.until = fixture.time.now.advanced(by: .seconds(10 * 86_400))
                try await fixture.store.addSchedule(schedule)
                schedules.append(schedule)
            }
            let keeper = self.keeper(fixture)
            await keeper.step(isStart: true)
            fixture.time.step(by: .seconds(40 * 86_400))
            await keeper.step()
            try await fixture.settle()
            for schedule in schedules {
                #expect(try await fixture.store.schedule(schedule.id)?.nextRunAt == nil)
            }
            // A person stops the second, and gives the third a rule that is over.
            try await fixture.store.changeSchedule(schedules[1].id, .pause(version: nil))
            schedules[2].rule.until = Timestamp(seconds: 1_700_000_001)
            let over = ScheduleChange.replace(
                name: "over",
                request: schedules[2].request,
                rule: schedules[2].rule,
                nextRunAt: nil
            )
            try await fixture.store.changeSchedule(schedules[2].id, over)
            fixture.time.step(by: .seconds(-40 * 86_400))
            await keeper.step()
            let next = Timestamp(seconds: 1_700_002_800)
            #expect(try await fixture.store.schedule(schedules[0].id)?.nextRunAt == next)
            #expect(try await fixture.store.schedule(schedules[1].id)?.nextRunAt == nil)
            #expect(try await fixture.store.schedule(schedules[2].id)?.nextRunAt == nil)
            let sent = fixture.sender.sent.count
            try await fixture.settle(after: .seconds(3600))
            #expect(fixture.sender.sent.count == sent + 1)
        }
    }

    /// The machine starts without a clock, long before any schedule was added, and learns the time later. One schedule ended a day
    /// ago, one has never run, and one ran last at the full hour.
    @Test(arguments: StoreBackend.available)
    func nothingOldRunsAfterAStartWithALostClock(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            let (now, day, lost) = (fixture.time.now, Duration.seconds(86_400), Duration.seconds(1_000_000_000))
            var ended = try fixture.schedule("ended")
            (ended.rule.missedRuns, ended.rule.until) = (.runAll(maximum: 100), now.advanced(by: .zero - day))
            (ended.nextRunAt, ended.lastRunAt) = (nil, now.advanced(by: .zero - day * 2))
            ended.createdAt = now.advanced(by: .zero - day * 30)
            var new = try fixture.schedule("new")
            new.rule.missedRuns = .runAll(maximum: 100)
            var old = new
            (old.id, old.createdAt) = (UUID(), ended.createdAt)
            old.lastRunAt = now.advanced(by: .seconds(-800))
            for schedule in [ended, new, old] { try await fixture.store.addSchedule(schedule) }
            fixture.time.step(by: .zero - lost)
            let keeper = self.keeper(fixture)
            await keeper.step(isStart: true)
            #expect(try await fixture.store.schedule(ended.id)?.nextRunAt == nil)
            fixture.time.step(by: lost)
            await keeper.step()
            try await fixture.settle()
            #expect(fixture.sender.sent.isEmpty)
            for schedule in [new, old] {
                let stored = try await fixture.store.schedule(schedule.id)
                #expect(stored?.nextRunAt == Timestamp(seconds: 1_700_002_800))
                #expect(stored?.lastRunAt == schedule.lastRunAt && stored?.problem == nil)
            }
            try await fixture.settle(after: .seconds(3600))
            #expect(fixture.sender.sent.count == 2)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aRunIsNotRepeatedAfterTheClockWasSetBack(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            _ = try await self.addSchedule(fixture)
            let keeper = self.keeper(fixture)
            await keeper.step(isStart: true)
            try await fixture.settle(after: .seconds(3600))
            #expect(fixture.sender.sent.count == 1)
            for _ in 0..<3 {
                fixture.time.step(by: .seconds(-3600))
                await keeper.step()
                try await fixture.settle()
                fixture.time.advance(by: .seconds(3600))
                await keeper.step()
                try await fixture.settle()
            }
            #expect(fixture.sender.sent.count == 1, "each planned timestamp has one run")
        }
    }

    @Test(arguments: StoreBackend.available)
    func theMarkIsKept(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let none = try await fixture.store.clockMark()
            #expect(none == nil)
            let keeper = self.keeper(fixture)
            await keeper.step(isStart: true)
            fixture.time.advance(by: .seconds(100))
            await keeper.step(marks: false)
            #expect(try await fixture.store.clockMark()?.steady == fixture.time.steady.advanced(by: .seconds(-100)))
            await keeper.step()
            let mark = ClockMark(steady: fixture.time.steady)
            #expect(try await fixture.store.clockMark() == mark)
            // Its own clock is ahead of it: that is written too.
            fixture.time.step(by: .seconds(40 * 86_400))
            await keeper.step()
            fixture.time.advance(by: .seconds(50))
            await keeper.step()
            let claim = ClockMark(steady: fixture.time.steady, claim: fixture.time.now, agreed: .seconds(50))
            #expect(try await fixture.store.clockMark() == claim)
        }
    }
}
