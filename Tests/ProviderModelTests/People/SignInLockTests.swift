import ProviderModel
import PushTypes
import Testing

/// The delay after failed attempts to sign in.
@Suite struct SignInLockTests {
    private let start = Timestamp(seconds: 1_700_000_000)

    /// Returns the lock after attempts that all fail, each as soon as it may be made, with the delays before them.
    private func failing(_ count: Int, _ limits: SignInLock.Limits) -> (lock: SignInLock, delays: [Int64]) {
        var (lock, now, delays) = (SignInLock(), self.start, [Int64]())
        for _ in 0..<count {
            let before = now
            while case .wait(let delay) = lock.attempt(now: now, limits) { now = now.advanced(by: delay) }
            delays.append(now.since(before).components.seconds)
        }
        return (lock, delays)
    }

    @Test func theFirstFiveAttemptsWaitForNothingAndTheOthersLongerAndLonger() {
        let (_, delays) = self.failing(14, .name)
        #expect(delays == [0, 0, 0, 0, 0, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600])
    }

    @Test func theDelaysOfAKnownNetworkEndAtFiveMinutes() {
        #expect(self.failing(10, .known).delays == [0, 0, 0, 0, 0, 60, 120, 240, 300, 300])
    }

    @Test func aNetworkHasTwentyAttempts() {
        let (_, delays) = self.failing(22, .network)
        #expect(delays == Array(repeating: 0, count: 20) + [60, 120])
    }

    /// Attempts are counted before their passwords are checked, so that many at once are not more.
    @Test func ofManyAttemptsAtOnceFiveProceed() {
        var lock = SignInLock()
        let decisions = (0..<100).map { _ in lock.attempt(now: self.start, .name) }
        #expect(decisions.count { $0 == .proceed } == 5)
        #expect(decisions.last == .wait(.seconds(60)))
    }

    /// Attempts during the wait do not make it longer.
    @Test func aRefusedAttemptCountsNothing() {
        var (lock, _) = self.failing(5, .name)
        let before = lock
        for second in 0..<59 {
            let now = self.start.advanced(by: .seconds(second))
            #expect(lock.attempt(now: now, .name) == .wait(.seconds(60 - second)))
        }
        #expect(lock == before)
        #expect(lock.attempt(now: self.start.advanced(by: .seconds(60)), .name) == .proceed)
    }

    @Test func afterADayNothingCounts() {
        var (lock, _) = self.failing(9, .name)
        let later = lock.at.advanced(by: SignInLock.memory)
        #expect(lock.isForgotten(now: later))
        #expect((0..<5).map { _ in lock.attempt(now: later, .name) } == Array(repeating: .proceed, count: 5))
    }

    @Test func aSuccessTakesBackItsOwnCountOnly() {
        var (lock, _) = self.failing(4, .network)
        lock.succeeded()
        #expect(lock.failures == 3)
        for _ in 0..<10 { lock.succeeded() }
        #expect(lock.failures == 0)
    }

    /// Whatever was stored, nothing overflows, and the longest delay ends.
    @Test(arguments: [0, 5, 64, 1000, Int.max]) func anyStoredCountHasADelay(failures: Int) {
        var lock = SignInLock(failures: failures, at: self.start)
        for limits in [SignInLock.Limits.name, .known, .network] {
            let decision = lock.attempt(now: self.start, limits)
            if case .wait(let delay) = decision { #expect(delay <= limits.longest) }
        }
        #expect(lock.attempt(now: Timestamp(milliseconds: .max), .name) == .proceed)
        var early = SignInLock(failures: failures, at: Timestamp(milliseconds: .max))
        _ = early.attempt(now: Timestamp(milliseconds: .min), .name)
    }
}
