import PushSupport
import PushTypes
import Testing

/// The choice between two ports, at times that the test sets.
@Suite struct PortFallbackTests {
    private let start = Timestamp(seconds: 1_700_000_000)

    private func at(_ seconds: Int64) -> Timestamp { self.start.advanced(by: .seconds(seconds)) }

    @Test func theFirstPortIsUsedAsLongAsItWorks() {
        var fallback = PortFallback(first: 443, second: 2197)
        #expect(fallback.port == 443)
        #expect(fallback.opened(443, now: self.at(0)) == nil)
        #expect(fallback.returnTime == nil)
        #expect(!fallback.isReturnDue(now: self.at(100_000)))
    }

    @Test func aFailureLeadsToTheOtherPortAndTimeBack() {
        var fallback = PortFallback(first: 443, second: 2197)
        fallback.failed(443, now: self.at(0))
        #expect(fallback.port == 2197)
        #expect(!fallback.allFailed)
        #expect(fallback.opened(2197, now: self.at(1)) == .fellBack)
        #expect(fallback.opened(2197, now: self.at(2)) == nil, "a change is reported once")
        #expect(fallback.returnTime == self.at(61))
        #expect(!fallback.isReturnDue(now: self.at(60)))
        #expect(fallback.isReturnDue(now: self.at(61)))
        #expect(fallback.opened(443, now: self.at(61)) == .returned)
        #expect(fallback.port == 443)
        #expect(fallback.returnTime == nil)
    }

    @Test func attemptsAlternateWhileBothFail() {
        var fallback = PortFallback(first: 443, second: 2197)
        for attempt in 0..<6 {
            #expect(fallback.port == (attempt.isMultiple(of: 2) ? 443 : 2197))
            fallback.failed(fallback.port, now: self.at(Int64(attempt)))
            #expect(fallback.allFailed == (attempt > 0))
        }
        #expect(fallback.opened(443, now: self.at(9)) == nil, "it was never on the fallback port")
        #expect(!fallback.allFailed)
        // A late failure of a connection to the port that is not in use changes nothing.
        fallback.failed(2197, now: self.at(10))
        #expect(fallback.port == 443)
    }

    @Test func failedReturnsBecomeRareAndTheFallbackStays() {
        var fallback = PortFallback(first: 443, second: 2197)
        fallback.failed(443, now: self.at(0))
        _ = fallback.opened(2197, now: self.at(0))
        var delays: [Int64] = []
        for _ in 0..<8 {
            guard let time = fallback.returnTime else {
                Issue.record("there is no way back")
                return
            }
            fallback.failed(443, now: time)
            #expect(fallback.port == 2197)
            delays.append(fallback.returnTime?.since(time).components.seconds ?? 0)
        }
        #expect(delays == [120, 240, 480, 960, 1800, 1800, 1800, 1800])
    }

    @Test func aPortThatWorksForMomentsIsTriedRarely() {
        var fallback = PortFallback(first: 443, second: 2197)
        var now: Int64 = 0
        var delays: [Int64] = []
        for _ in 0..<3 {
            fallback.failed(443, now: self.at(now))
            _ = fallback.opened(2197, now: self.at(now))
            let delay = fallback.returnTime?.since(self.at(now)).components.seconds ?? 0
            delays.append(delay)
            now += delay
            #expect(fallback.opened(443, now: self.at(now)) == .returned)
            now += 10
        }
        #expect(delays == [60, 120, 240])
        now += 30 * 60
        fallback.failed(443, now: self.at(now))
        _ = fallback.opened(2197, now: self.at(now))
        #expect(fallback.returnTime == self.at(now + 60), "it worked for long enough")
    }
}
