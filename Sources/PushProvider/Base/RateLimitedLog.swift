package import Logging
package import PushSupport
package import PushTypes
import Synchronization

/// Writes the log lines that requests and responses cause, and limits the lines with the same message for each app.
///
/// A line states how many lines with the same message were omitted before it.
package final class RateLimitedLog: Sendable {
    private let logger: Logger
    private let lines: Budget
    private let omitted = Mutex<[BudgetCaller: Int]>([:])

    /// Creates a log that writes to `logger`. The budget `lines` limits the lines with the same message for each app.
    package init(_ logger: Logger, _ lines: Budget) { (self.logger, self.lines) = (logger, lines) }

    /// Decides whether a line with this message is written, and counts it.
    /// - Parameter app: The app that causes the line, or `nil` if none is known.
    /// - Returns: The number of lines that were omitted before this one, or `nil` if this line is to be omitted.
    package func admit(_ message: String, app: Topic? = nil) -> Int? {
        let caller = BudgetCaller(app: app, .name(message))
        do {
            try self.lines.spend(for: caller)
        } catch {
            self.omitted.withLock { $0[caller, default: 0] += 1 }
            return nil
        }
        return self.omitted.withLock { $0.removeValue(forKey: caller) } ?? 0
    }

    /// Writes a line. If the budget of its message for this app is used up, the line is only counted.
    package func log(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata, app: Topic? = nil) {
        guard let omitted = self.admit(message, app: app) else { return }
        self.write(level, message, metadata, omitted: omitted)
    }

    /// Writes a line that ``admit(_:app:)`` has admitted, with the number of `omitted` lines that it returned.
    package func write(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata, omitted: Int) {
        var metadata = metadata
        if omitted > 0 { metadata["omitted"] = "\(omitted)" }
        self.logger.log(level: level, "\(message)", metadata: metadata)
    }
}
