package import Logging
package import NIOCore
import PushSupport
import Synchronization

extension Logger {
    /// The number of lines of one message in a minute that strangers can cause.
    package static let linesOfStrangers = 20

    /// Returns a logger for lines that strangers can cause: of each message some are written in a minute, the others are counted.
    ///
    /// The next line of a message after a pause has the number of lines that were left out. Lines below the level info are all
    /// written, as they are wanted only in the search for a fault.
    /// - Parameter clock: The time, which tests set.
    package func ofStrangers(clock: @escaping @Sendable () -> NIODeadline = { .now() }) -> Logger {
        let handler = StrangersLogHandler(self, clock: clock)
        return Logger(label: self.label) { _ in handler }
    }
}

/// Writes some lines of each message a minute.
private struct StrangersLogHandler: LogHandler {
    /// The limiter that all copies of a logger share.
    private final class Limiter: Sendable {
        let lines = Mutex(LogRateLimiter<String>(perMinute: Logger.linesOfStrangers))
    }

    private var base: any LogHandler
    private let limiter = Limiter()
    private let clock: @Sendable () -> NIODeadline

    init(_ logger: Logger, clock: @escaping @Sendable () -> NIODeadline) {
        (self.base, self.clock) = (logger.handler, clock)
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
        if event.level >= .info {
            let now = self.clock()
            guard let omitted = self.limiter.lines.withLock({ $0.note("\(event.message)", now: now) }) else { return }
            if omitted > 0 { event.metadata = (event.metadata ?? [:]).merging(["omitted": "\(omitted)"]) { $1 } }
        }
        self.base.log(event: event)
    }
}
