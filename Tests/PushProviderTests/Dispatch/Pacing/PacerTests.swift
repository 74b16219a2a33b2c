import ProviderModel
import PushTypes
import Testing

@testable import PushProvider

@Suite struct PacerTests {
    static func timestamp(_ milliseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: 1_795_593_600_000 + milliseconds)
    }

    @Test func releasedRecipientsMayBeSentOnceMore() {
        var pacer = Pacer(settings: .rate(500), now: Self.timestamp(0))
        let full = pacer.allowance(now: Self.timestamp(1000)).count
        #expect(full == 500)
        pacer.send(full, now: Self.timestamp(1000))
        let none = pacer.allowance(now: Self.timestamp(1000)).count
        #expect(none == 0)
        pacer.release(300, now: Self.timestamp(1000))
        let some = pacer.allowance(now: Self.timestamp(1000)).count
        #expect(some == 300)
        for count in [-1, .max, 300] { pacer.release(count, now: Self.timestamp(1000)) }
        let most = pacer.allowance(now: Self.timestamp(1000)).count
        #expect(most == 500, "a second's worth at most")
    }

    /// Sends as fast as `pacer` allows until `end`; recipients per second of that time.
    static func run(_ pacer: inout Pacer, page: Int, from start: Int64, to end: Int64) -> [Int] {
        var sent = Array(repeating: 0, count: Int((end - start) / 1000))
        var now = start
        while now < end {
            let allowance = pacer.allowance(now: Self.timestamp(now))
            let count = min(page, allowance.count)
            pacer.send(count, now: Self.timestamp(now))
            sent[Int((now - start) / 1000)] += count
            if count == 0 { now = allowance.next.milliseconds - Self.timestamp(0).milliseconds }
        }
        return sent
    }

    @Test(arguments: [1, 3, 7, 500, 9999, 1_000_000])
    func aRateIsKept(rate: Int) {
        var pacer = Pacer(settings: .rate(rate), now: Self.timestamp(0))
        let sent = Self.run(&pacer, page: 500, from: 0, to: 60_000)
        #expect(sent.reduce(0, +) <= rate * 60)
        #expect(sent.reduce(0, +) >= rate * 59 - rate / 10 - 1)
        #expect(sent.allSatisfy { $0 <= rate + rate / 10 + 1 })
    }

    @Test func afterAPauseAtMostOneSecondIsMadeUpFor() {
        var pacer = Pacer(settings: .rate(500), now: Self.timestamp(0))
        let allowed1 = pacer.allowance(now: Self.timestamp(0))
        #expect(allowed1.count == 0)
        let allowed2 = pacer.allowance(now: Self.timestamp(3_600_000))
        #expect(allowed2 == .init(count: 500, next: Self.timestamp(3_600_000)))
    }

    @Test func aClockThatGoesBackDoesNotStopARate() {
        var pacer = Pacer(settings: .rate(500), now: Self.timestamp(3_600_000))
        let allowed3 = pacer.allowance(now: Self.timestamp(0))
        #expect(allowed3.count == 0)
        let allowed4 = pacer.allowance(now: Self.timestamp(1000))
        #expect(allowed4.count == 500)
        var extreme = Pacer(settings: .rate(1_000_000), now: Timestamp(milliseconds: .min))
        let allowed5 = extreme.allowance(now: Timestamp(milliseconds: .max))
        #expect(allowed5.count == 1_000_000)
        extreme.send(.max, now: Timestamp(milliseconds: .max))
        let allowed6 = extreme.allowance(now: Timestamp(milliseconds: .min))
        #expect(allowed6.count == 0)
    }

    @Test func aWaveIsFollowedByAPause() {
        var pacer = Pacer(settings: .waves(size: 1200, interval: 300), now: Self.timestamp(0))
        let sent = Self.run(&pacer, page: 500, from: 5000, to: 905_000)
        #expect(sent.enumerated().filter { $1 > 0 }.map(\.offset) == [0, 300, 600])
        #expect(sent.reduce(0, +) == 3600)
    }

    @Test func aRestartContinuesTheSameWave() {
        let settings = PaceSettings.waves(size: 1000, interval: 300)
        var before = Pacer(settings: settings, now: Self.timestamp(0))
        before.send(700, now: Self.timestamp(0))
        var after = Pacer(settings: settings, wave: before.wave, now: Self.timestamp(60_000))
        let allowed7 = after.allowance(now: Self.timestamp(60_000))
        #expect(allowed7.count == 300)
        after.send(300, now: Self.timestamp(60_000))
        let allowed8 = after.allowance(now: Self.timestamp(60_000))
        #expect(allowed8 == .init(count: 0, next: Self.timestamp(300_000)))
        let allowed9 = after.allowance(now: Self.timestamp(300_000))
        #expect(allowed9.count == 1000)
    }

    @Test func damagedStateAndClocksDoNotStopAWave() {
        let settings = PaceSettings.waves(size: 10, interval: 300)
        for wave in [
            WaveProgress(startedAt: Timestamp(milliseconds: .max), sent: .max),
            WaveProgress(startedAt: Timestamp(milliseconds: .min), sent: .min),
            WaveProgress(startedAt: nil, sent: .max),
        ] {
            var pacer = Pacer(settings: settings, wave: wave, now: Self.timestamp(0))
            _ = pacer.allowance(now: Self.timestamp(0))
            pacer.send(.max, now: Self.timestamp(0))
            pacer.send(.min, now: Self.timestamp(0))
            let allowed10 = pacer.allowance(now: Self.timestamp(0))
            #expect(allowed10.count == 0)
            let allowed11 = pacer.allowance(now: Self.timestamp(300_000))
            #expect(allowed11.count == 10)
        }
    }
}
