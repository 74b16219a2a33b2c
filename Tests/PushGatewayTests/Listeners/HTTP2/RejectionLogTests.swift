import Logging
import NIOCore
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushGateway

/// What is logged of rejections.
@Suite struct RejectionLogTests {
    @Test func aFloodOfRejectionsIsAFewLinesAndACount() {
        let recorded = RecordedLog(level: .info)
        let clock = Mutex(NIODeadline.uptimeNanoseconds(1_000_000_000_000))
        let log = RejectionLog(recorded.logger) { clock.withLock { $0 } }
        for number in 0..<5000 { log.write("request refused", .invalidProviderToken, id: "\(number)") }
        log.write("request refused", .badDeviceToken, id: "other")
        #expect(recorded.lines.count == RejectionLog.perMinute + 1)
        #expect(recorded.lines.last == "request refused id=other reason=BadDeviceToken")
        log.flush()
        #expect(recorded.lines.count == RejectionLog.perMinute + 1)
        clock.withLock { $0 = $0 + .minutes(1) }
        log.flush()
        #expect(
            recorded.lines.last
                == "request refused omitted=\(5000 - RejectionLog.perMinute) reason=InvalidProviderToken"
        )
        log.write("request refused", .invalidProviderToken, id: "next")
        #expect(recorded.lines.last == "request refused id=next reason=InvalidProviderToken")
    }
}
