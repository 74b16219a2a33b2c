package import Logging
import NIOCore
import PushSupport
import Synchronization

/// A log for lines that requests and responses cause: some of each message a minute, however many there are.
///
/// The next line of a message after a pause has the number of lines that were left out.
package final class LimitedLog: Sendable {
    /// The lines of one message in a minute.
    package static let linesPerMinute = 30

    private let logger: Logger
    private let limiter: Mutex<LogRateLimiter<String>>

    package init(_ logger: Logger, perMinute: Int = LimitedLog.linesPerMinute) {
        self.logger = logger
        self.limiter = Mutex(LogRateLimiter(perMinute: perMinute))
    }

    /// Returns `true` if a line with this message is written, and counts it.
    /// - Returns: The number of lines that were left out before it; `nil` for a line that is left out.
    package func admit(_ message: String) -> Int? {
        self.limiter.withLock { $0.note(message, now: .now()) }
    }

    /// Writes a line unless there were many with this message.
    package func log(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) {
        guard let omitted = self.admit(message) else { return }
        self.write(level, message, metadata, omitted: omitted)
    }

    /// Writes a line that was admitted.
    package func write(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata, omitted: Int) {
        var metadata = metadata
        if omitted > 0 { metadata["omitted"] = "\(omitted)" }
        self.logger.log(level: level, "\(message)", metadata: metadata)
    }
}
