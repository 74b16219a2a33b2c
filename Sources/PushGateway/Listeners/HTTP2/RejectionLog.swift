import Logging
import NIOCore
import PushHTTP
import PushTypes
import Synchronization

/// Logs what providers are refused: of each reason so many lines a minute, the others as a count.
final class RejectionLog: Sendable {
    private struct Line: Hashable {
        var text: String
        var reason: Reason
    }

    /// Lines of one reason in a minute.
    static let perMinute = 20

    private let logger: Logger
    private let clock: @Sendable () -> NIODeadline
    private let lines = Mutex(LogRateLimiter<Line>(perMinute: perMinute))

    init(_ logger: Logger, clock: @escaping @Sendable () -> NIODeadline = { .now() }) {
        self.logger = logger
        self.clock = clock
    }

    /// - Parameter rule: the rule of strict mode that the request broke, if it was one.
    func write(_ text: String, _ reason: Reason, id: String? = nil, rule: String? = nil) {
        let now = self.clock()
        guard let omitted = self.lines.withLock({ $0.note(Line(text: text, reason: reason), now: now) }) else { return }
        var metadata: Logger.Metadata = ["reason": "\(reason.text)"]
        if let id { metadata["id"] = "\(id)" }
        if let rule { metadata["rule"] = "\(rule)" }
        if omitted > 0 { metadata["omitted"] = "\(omitted)" }
        self.logger.info("\(text)", metadata: metadata)
    }

    /// Called from time to time: counts what minutes that are over left out.
    func flush() {
        let now = self.clock()
        for (line, count) in self.lines.withLock({ $0.takeOmitted(now: now) }) {
            self.logger.info("\(line.text)", metadata: ["reason": "\(line.reason.text)", "omitted": "\(count)"])
        }
    }
}
