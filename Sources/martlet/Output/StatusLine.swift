import Foundation
import Synchronization

/// A status line at the end of standard error that is updated in place. It is shown only on terminals.
final class StatusLine: Sendable {
    /// The minimum time between two updates, which keeps their cost negligible.
    private static let interval: Duration = .milliseconds(200)

    /// A Boolean value that indicates whether standard error is a terminal. If it is not, nothing is shown.
    let isShown = isatty(STDERR_FILENO) == 1
    private let shownAt = Mutex<ContinuousClock.Instant?>(nil)

    /// Replaces the contents of the line, unless the last update was too recent.
    func show(_ text: @autoclosure () -> String) {
        guard self.isShown else { return }
        let now = ContinuousClock.now
        let isDue = self.shownAt.withLock { last in
            if let last, now - last < Self.interval { return false }
            last = now
            return true
        }
        if isDue { StandardError.write("\r\u{1b}[K\(text().printable)") }
    }

    func clear() { if self.isShown { StandardError.write("\r\u{1b}[K") } }
}

/// Formats progress as a bar with numbers.
enum ProgressText {
    private static let width = 30

    /// Returns the bar with the counts, the rate and the remaining time.
    /// - Parameters:
    ///   - total: The count at 100 %, or `nil` if it is not known, in which case there is no bar.
    ///   - rate: The count per second, or `nil` to leave it out.
    ///   - secondsLeft: The remaining time, or `nil` to leave it out.
    static func of(done: Int, total: Int?, rate: Double? = nil, secondsLeft: Int? = nil) -> String {
        var text = "\(done)"
        if let total, total > 0 {
            let share = min(1, max(0, Double(done) / Double(total)))
            let filled = Int(share * Double(Self.width))
            let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
            text = "[\(bar)] \(done) of \(total)"
        }
        if let rate, rate.isFinite {
            text += ", \(rate.formatted(.number.precision(.fractionLength(0)).grouping(.never)))/s"
        }
        if let secondsLeft { text += ", \(Self.time(secondsLeft)) left" }
        return text
    }

    /// Formats a duration as 0:07, 12:30 or 3:05:00.
    static func time(_ seconds: Int) -> String {
        let seconds = max(0, seconds)
        let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60)
        let end = rest < 10 ? "0\(rest)" : "\(rest)"
        guard hours > 0 else { return "\(minutes):\(end)" }
        return "\(hours):\(minutes < 10 ? "0" : "")\(minutes):\(end)"
    }
}
