import Logging
import NIOCore
import PushTypes
import Synchronization
import Testing

@testable import PushGateway

/// What is logged of rejections.
@Suite struct RefusalLogTests {
    @Test func aFloodOfRejectionsIsAFewLinesAndACount() {
        let lines = Lines()
        let clock = Mutex(NIODeadline.uptimeNanoseconds(1_000_000_000_000))
        let log = RejectionLog(Logger(label: "test") { _ in LineHandler(lines: lines) }) { clock.withLock { $0 } }
        for number in 0..<5000 { log.write("request refused", .invalidProviderToken, id: "\(number)") }
        log.write("request refused", .badDeviceToken, id: "other")
        #expect(lines.all.count == RejectionLog.perMinute + 1)
        #expect(lines.all.last == "request refused id=other reason=BadDeviceToken")
        log.flush()
        #expect(lines.all.count == RejectionLog.perMinute + 1)
        clock.withLock { $0 = $0 + .minutes(1) }
        log.flush()
        #expect(
            lines.all.last == "request refused omitted=\(5000 - RejectionLog.perMinute) reason=InvalidProviderToken"
        )
        log.write("request refused", .invalidProviderToken, id: "next")
        #expect(lines.all.last == "request refused id=next reason=InvalidProviderToken")
    }
}

private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { self.lines.withLock { $0 } }

    func add(_ line: String) { self.lines.withLock { $0.append(line) } }
}

private struct LineHandler: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
        self.lines.add("\(event.message)" + fields.joined())
    }
}
