import Logging
import PushTesting
import Testing

@testable import ProviderAPI

/// Refused API keys in the log.
@Suite struct RefusedKeyLogTests {
    @Test func aMinuteHasOneLineForEachKindOfRefusal() {
        let recorded = RecordedLog()
        let log = RefusedKeyLog(logger: recorded.logger)
        for _ in 0..<1000 { log.note(status: 401, key: nil) }
        log.note(status: 403, key: "reports")
        log.note(status: 200, key: "reports")
        log.note(status: 404, key: "reports")
        log.summarize()
        #expect(
            recorded.lines == [
                "API keys were refused count=1000 status=401", "API keys were refused count=1 key=reports status=403",
            ]
        )
        log.summarize()
        #expect(recorded.lines.count == 2)
    }

    @Test func manyKeysMakeFewLines() {
        let recorded = RecordedLog()
        let log = RefusedKeyLog(logger: recorded.logger)
        for number in 0..<1000 { log.note(status: 403, key: "key \(number)") }
        log.summarize()
        #expect(recorded.lines.count == 11)
        #expect(recorded.lines.last == "further API keys were refused count=990")
    }
}
