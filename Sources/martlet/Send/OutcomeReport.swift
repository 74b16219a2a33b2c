import Foundation
import PushSender
import PushTypes

/// Prints outcomes: one JSON line each for programs; for people a progress bar, the failures, and a sum.
final class OutcomeReport {
    private let asJSON: Bool
    /// The number of outcomes to come; `nil` if it is not known.
    private let total: Int?
    private let start = ContinuousClock.now
    /// The number of outcomes of each kind.
    private var counts: [String: Int] = [:]
    /// The number of outcomes so far.
    private var done = 0
    private let status = StatusLine()
    /// A value that is true while standard output is open.
    private(set) var isOpen = true

    /// - Parameter total: the number of outcomes to come; `nil` if it is not known.
    init(asJSON: Bool, total: Int?) {
        self.asJSON = asJSON || isatty(STDOUT_FILENO) == 0
        self.total = total
    }

    /// A value that is true if there were outcomes and all are accepted.
    var allAccepted: Bool { self.done > 0 && self.counts["accepted"] == self.done }

    /// Adds the outcome of a push to one token.
    func add(_ text: OutcomeText, for entry: TokenSource.Entry) throws {
        self.done += 1
        self.counts[text.kind, default: 0] += 1
        if self.asJSON {
            self.print(try text.json(line: entry.line, token: entry.token?.hex ?? entry.text))
        } else if text.kind != "accepted" {
            self.status.clear()
            let token = entry.token.map { "\($0)" } ?? "'\(entry.text.prefix(12))…'"
            self.print("line \(entry.line), \(token): \(text.sentence)")
        }
        self.status.show(ProgressText.of(done: self.done, total: self.total, rate: self.rate))
    }

    /// Prints the sum to standard error.
    func finish() {
        self.status.clear()
        let seconds = max(0.001, (ContinuousClock.now - self.start) / .seconds(1))
        let parts = self.counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        StandardError.line(
            "\(parts.isEmpty ? "nothing sent" : parts.joined(separator: ", ")) in "
                + "\(seconds.formatted(.number.precision(.fractionLength(2)))) s"
        )
    }

    /// Prints a line and notes if standard output is closed.
    private func print(_ line: String) {
        if !StandardOutput.line(line) { self.isOpen = false }
    }

    /// The outcomes per second since the start.
    private var rate: Double { Double(self.done) / max(0.001, (.now - self.start) / .seconds(1)) }
}
