import Logging
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// The log of what requests and responses cause.
@Suite struct RateLimitedLogTests {
    private let recorded = RecordedLog()
    private let clock = Clock()

    /// Returns a log with two lines of a message at once, and one a second.
    private var log: RateLimitedLog {
        let limits = BudgetLimits(.init(caller: .rate(perSecond: 1, burst: 2)))
        return RateLimitedLog(self.recorded.logger, Budget(.logLines, limits: limits) { [clock] in clock.now })
    }

    @Test func eachMessageHasSomeLines() {
        let log = self.log
        for _ in 0..<5 { log.log(.info, "one", [:]) }
        log.log(.info, "other", ["key": "value"])
        #expect(self.recorded.lines == ["one", "one", "other key=value"])
    }

    @Test func aLineHasTheNumberOfThoseThatWereLeftOut() {
        let log = self.log
        for _ in 0..<5 { log.log(.info, "one", [:]) }
        self.clock.advance(by: .seconds(1))
        log.log(.info, "one", ["key": "value"])
        #expect(self.recorded.lines == ["one", "one", "one key=value omitted=3"])
        self.clock.advance(by: .seconds(1))
        log.log(.info, "one", [:])
        #expect(self.recorded.lines.last == "one")
    }

    @Test func theLinesOfAnAppSilenceNoOther() throws {
        let log = self.log
        let (first, second) = (try #require(Topic("com.example.First")), try #require(Topic("com.example.Second")))
        for _ in 0..<100 { log.log(.info, "one", [:], app: first) }
        log.log(.info, "one", ["app": "second"], app: second)
        #expect(self.recorded.lines == ["one", "one", "one app=second"])
    }

    /// What takes from the same budget is one account, wherever it writes.
    @Test func twoLogsOfABudgetHaveTheLinesOfOne() {
        let lines = Budget(.logLines) { [clock] in clock.now }
        let logs = [RateLimitedLog(self.recorded.logger, lines), RateLimitedLog(self.recorded.logger, lines)]
        for _ in 0..<50 { for log in logs { log.log(.info, "one", [:]) } }
        #expect(self.recorded.lines.count == 30)
        #expect(lines.refusals.map(\.count) == [70])
    }

    /// A clock that stands still.
    private final class Clock: Sendable {
        private let state = Mutex(ContinuousClock.now)

        var now: ContinuousClock.Instant { self.state.withLock { $0 } }

        func advance(by duration: Duration) { self.state.withLock { $0 += duration } }
    }
}
