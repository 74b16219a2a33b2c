import PushStore
import PushSupport
import PushTypes
import Testing

@testable import PushProvider

@Suite struct ClockStateMachineTests {
    private let mark = Timestamp(seconds: 1_700_000_000)

    private func later(_ hours: Int) -> Timestamp { self.mark.advanced(by: .seconds(hours * 3600)) }

    private func clock(_ mark: ClockMark?, wall: Timestamp, isConfirmed: Bool = false) -> ClockStateMachine {
        ClockStateMachine(mark: mark, wall: wall, isConfirmed: isConfirmed)
    }

    @Test func theFirstStartBelievesTheClock() {
        #expect(self.clock(nil, wall: self.mark).start == self.mark)
    }

    @Test(arguments: [0, 1, 25]) func aStartAfterAShortTimeBelievesTheClock(hours: Int) {
        let clock = self.clock(ClockMark(steady: self.mark), wall: self.later(hours))
        #expect(clock.start == self.later(hours))
        #expect(clock.disbelieved == nil)
    }

    @Test(arguments: [-1, -400_000]) func aClockThatIsBehindContinuesFromTheMark(hours: Int) {
        #expect(self.clock(ClockMark(steady: self.mark), wall: self.later(hours)).start == self.mark)
    }

    @Test func aClockFarAheadIsNotBelieved() {
        let clock = self.clock(ClockMark(steady: self.mark), wall: self.later(40 * 24))
        #expect(clock.start == self.mark)
        #expect(clock.disbelieved == .seconds(40 * 86_400))
        #expect(
            self.clock(ClockMark(steady: self.mark), wall: self.later(960), isConfirmed: true).start
                == self.later(960)
        )
    }

    /// A day of running time counts, over restarts.
    @Test func aClockThatKeepsToItIsBelieved() {
        var mark = ClockMark(steady: self.mark)
        var wall = self.later(72)
        for _ in 0..<5 {
            var clock = self.clock(mark, wall: wall)
            #expect(clock.disbelieved != nil)
            var steady = clock.start
            for _ in 0..<5 {
                (wall, steady) = (wall.advanced(by: .seconds(3600)), steady.advanced(by: .seconds(3600)))
                mark = clock.observe(ClockReading(wall: wall, steady: steady)).mark
            }
        }
        let clock = self.clock(mark, wall: wall)
        #expect(clock.start == wall)
        #expect(clock.disbelieved == nil)
    }

    @Test func aClockThatIsSetAgainProvesNothing() {
        var clock = self.clock(ClockMark(steady: self.mark), wall: self.later(72))
        let day = clock.observe(ClockReading(wall: self.later(97), steady: self.later(25)))
        #expect(day.step == nil)
        #expect(day.mark.agreed == .seconds(25 * 3600))
        let set = clock.observe(ClockReading(wall: self.later(200), steady: self.later(26)))
        #expect(set.step == .seconds(102 * 3600))
        #expect(set.mark.agreed == .zero)
        let right = clock.observe(ClockReading(wall: self.later(26), steady: self.later(26)))
        #expect(right.step == .seconds(-174 * 3600))
        #expect(right.mark == ClockMark(steady: self.later(26)))
    }

    @Test func aSecondIsNoStep() {
        var clock = self.clock(nil, wall: self.mark)
        let observation = clock.observe(
            ClockReading(wall: self.later(1).advanced(by: .seconds(1)), steady: self.later(1))
        )
        #expect(observation.step == nil)
    }
}
