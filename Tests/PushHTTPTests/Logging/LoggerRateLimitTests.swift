import Logging
import NIOCore
import PushHTTP
import PushTesting
import Synchronization
import Testing

/// The limit of log lines that anybody can cause.
@Suite final class LoggerRateLimitTests: Sendable {
    private let recorded = RecordedLog(level: .debug)
    private let now = Mutex(NIODeadline.uptimeNanoseconds(1_000_000_000_000))

    @Test func aFloodIsAFewLinesAndACount() {
        let logger = self.logger
        for number in 0..<5000 { logger.info("device rejected", metadata: ["reason": "\(number)"]) }
        logger.warning("another message")
        #expect(self.recorded.lines.count == Logger.maximumLinesPerMinute + 1)
        #expect(self.recorded.lines.first == "device rejected reason=0")
        #expect(self.recorded.lines.last == "another message")
        self.now.withLock { $0 = $0 + .minutes(1) }
        logger.info("device rejected")
        #expect(self.recorded.lines.last == "device rejected omitted=\(5000 - Logger.maximumLinesPerMinute)")
    }

    @Test func whatIsBelowInfoIsNotLimitedAndTheLevelHolds() {
        let logger = self.logger
        for _ in 0..<100 { logger.debug("a byte") }
        #expect(self.recorded.lines.count == 100)
        logger.trace("not wanted")
        #expect(self.recorded.lines.count == 100)
    }

    private var logger: Logger { self.recorded.logger.rateLimited { self.now.withLock { $0 } } }
}
