import Logging
import NIOCore
import PushSupport
import PushTypes
import Synchronization

/// Logs the rejections of providers' requests: a number of lines per minute for each reason, the others as a count.
final class RejectionLog: Sendable {
    private struct Line: Hashable {
        var text: String
        var reason: Reason
    }

    /// The number of lines of one reason in a minute.
    static let perMinute = 20

    private let logger: Logger
    private let clock: @Sendable () -> NIODeadline
    private let lines = Mutex(LogRateLimiter<Line>(perMinute: perMinute))

    init(_ logger: Logger, clock: @escaping @Sendable () -> NIODeadline = { .now() }) {
        (self.logger, self.clock) = (logger, clock)
    }

    /// Logs a rejection, or counts it.
    /// - Parameter rule: The rule of strict mode that the request broke, or `nil`.
    func write(_ text: String, _ reason: Reason, id: String? = nil, rule: String? = nil) {
        let now = self.clock()
        guard let omitted = self.lines.withLock({ $0.note(Line(text: text, reason: reason), now: now) }) else { return }
        var metadata: Logger.Metadata = ["reason": "\(reason.text)"]
        if let id { metadata["id"] = "\(id)" }
        if let rule { metadata["rule"] = "\(rule)" }
        if omitted > 0 { metadata["omitted"] = "\(omitted)" }
        self.logger.info("\(text)", metadata: metadata)
    }

    /// Logs the counts of past minutes. It is called at intervals.
    func flush() {
        let now = self.clock()
        for (line, count) in self.lines.withLock({ $0.takeOmitted(now: now) }) {
            self.logger.info("\(line.text)", metadata: ["reason": "\(line.reason.text)", "omitted": "\(count)"])
        }
    }
}
