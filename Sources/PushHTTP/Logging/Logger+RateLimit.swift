package import Logging
package import NIOCore
import PushSupport
import Synchronization

extension Logger {
    /// The maximum number of lines of one message in a minute that unauthenticated clients can cause.
    package static let maximumLinesPerMinute = 20

    /// Returns a logger for lines that anybody can cause: of each message some are written in a minute, the others are counted.
    ///
    /// The next line of a message after a pause has the number of lines that were left out. Lines below the level info are all
    /// written, as they are wanted only in the search for a fault.
    /// - Parameter clock: The time, which tests set.
    package func rateLimited(clock: @escaping @Sendable () -> NIODeadline = { .now() }) -> Logger {
        let limiter = LineLimiter()
        let handler = FilteringLogHandler(self.handler) { event in
            guard event.level >= .info else { return true }
            let now = clock()
            guard let omitted = limiter.lines.withLock({ $0.note("\(event.message)", now: now) }) else { return false }
            if omitted > 0 { event.metadata = (event.metadata ?? [:]).merging(["omitted": "\(omitted)"]) { $1 } }
            return true
        }
        return Logger(label: self.label) { _ in handler }
    }
}

/// The limiter that all copies of a logger share.
private final class LineLimiter: Sendable {
    let lines = Mutex(LogRateLimiter<String>(perMinute: Logger.maximumLinesPerMinute))
}
