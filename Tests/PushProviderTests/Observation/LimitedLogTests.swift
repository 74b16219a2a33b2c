import Logging
import PushTesting
import Testing

@testable import PushProvider

/// The log of what requests and responses cause.
@Suite struct LimitedLogTests {
    @Test func eachMessageHasSomeLinesAMinute() {
        let recorded = RecordedLog()
        let log = LimitedLog(recorded.logger, perMinute: 2)
        for _ in 0..<5 { log.log(.info, "one", [:]) }
        log.log(.info, "other", ["key": "value"])
        #expect(recorded.lines == ["one", "one", "other key=value"])
    }

    @Test func aLineHasTheNumberOfThoseThatWereLeftOut() {
        let recorded = RecordedLog()
        LimitedLog(recorded.logger).write(.info, "one", ["key": "value"], omitted: 3)
        #expect(recorded.lines == ["one key=value omitted=3"])
    }
}
