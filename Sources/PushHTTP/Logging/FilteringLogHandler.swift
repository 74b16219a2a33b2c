package import Logging
package import NIOCore
import PushSupport
import Synchronization

/// Forwards the log events that a filter accepts. The filter may modify them.
struct FilteringLogHandler: LogHandler {
    private var base: any LogHandler
    private let filter: @Sendable (inout LogEvent) -> Bool

    /// Creates a handler that forwards events to `base`.
    /// - Parameter filter: Returns `false` for an event that is dropped.
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
    /// The maximum number of lines per minute with the same message from unauthenticated clients. Others are only
    /// counted.
    package static let maximumLinesPerMinute = 20

    /// Returns a logger for lines that any client can cause. It writes at most ``maximumLinesPerMinute`` lines with the
    /// same message per minute, and counts further lines.
    ///
    /// The next line with the message after that includes the number of dropped lines. Lines below the level info are
    /// never dropped, because that level is enabled only for debugging.
    /// - Parameter clock: Returns the current time. Tests replace it.
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

private final class SharedLimiter: Sendable {
    let lines = Mutex(LogLineLimiter<String>(perMinute: Logger.maximumLinesPerMinute))
}

extension Logger {
    /// A logger for the HTTP server. It drops messages below the level warning, because the server's messages about its
    /// start and stop would repeat Martlet's own. It also drops messages about a cancelled server.
    ///
    /// If another service fails, the server is cancelled and logs the cancellation as an error, before the error that
    /// ended the process is logged.
    package var forHTTPServer: Logger {
        var logger = self
        logger.logLevel = max(self.logLevel, .warning)
        logger.handler = FilteringLogHandler(logger.handler) { _ in !Task.isCancelled }
        return logger
    }
}
