package import Logging
package import NIOCore
import PushSupport
import Synchronization

/// Passes on those log events that a filter accepts. The filter may change them.
struct FilteringLogHandler: LogHandler {
    private var base: any LogHandler
    private let filter: @Sendable (inout LogEvent) -> Bool

    /// - Parameter filter: Returns `false` for an event that is left out.
    init(_ base: any LogHandler, filter: @escaping @Sendable (inout LogEvent) -> Bool) {
        (self.base, self.filter) = (base, filter)
    }

    var logLevel: Logger.Level {
        get { self.base.logLevel }
        set { self.base.logLevel = newValue }
    }

    var metadata: Logger.Metadata {
        get { self.base.metadata }
        set { self.base.metadata = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.base[metadataKey: key] }
        set { self.base[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        var event = event
        if self.filter(&event) { self.base.log(event: event) }
    }
}

extension Logger {
    /// The maximum number of lines of one message in a minute that unauthenticated clients can cause.
    package static let maximumLinesPerMinute = 20

    /// Returns a logger for lines that any client can cause. At most ``maximumLinesPerMinute`` lines of the same
    /// message are written in a minute. Further lines are counted.
    ///
    /// The next line of a message after a pause has the number of lines that were left out. Lines below the level info
    /// are all written, because that level is set only for debugging.
    /// - Parameter clock: Returns the time. Tests replace it.
    package func rateLimited(clock: @escaping @Sendable () -> NIODeadline = { .now() }) -> Logger {
        let limiter = SharedLimiter()
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
private final class SharedLimiter: Sendable {
    let lines = Mutex(LogLineLimiter<String>(perMinute: Logger.maximumLinesPerMinute))
}

extension Logger {
    /// The logger for an HTTP server. Messages below warning are left out, because the server's messages about start
    /// and stop would repeat Martlet's own. Messages of a cancelled server are left out too.
    ///
    /// A server that is cancelled because another service failed reports the cancellation as an error of its own,
    /// before the error that ended the process.
    package var forHTTPServer: Logger {
        var logger = self
        logger.logLevel = max(self.logLevel, .warning)
        logger.handler = FilteringLogHandler(logger.handler) { _ in !Task.isCancelled }
        return logger
    }
}
