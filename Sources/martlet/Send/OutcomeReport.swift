import Foundation
import PushSender
import PushTypes

/// Shows outcomes: one JSON line each for programs; for people a progress bar, what went wrong, and a sum.
final class OutcomeReport {
    private let asJSON: Bool
    private let total: Int?
    private let start = ContinuousClock.now
    private var counts: [String: Int] = [:]
    private var done = 0
    private let status = StatusLine()
    /// Whether anybody still reads the outcomes.
    private(set) var hasReader = true

    /// - Parameter total: how many outcomes there will be, if that is known.
    init(asJSON: Bool, total: Int?) {
        self.asJSON = asJSON || isatty(STDOUT_FILENO) == 0
        self.total = total
    }

    var allAccepted: Bool { self.done > 0 && self.counts["accepted"] == self.done }

    func add(_ outcome: Outcome, for entry: TokenSource.Entry) {
        self.add(OutcomeText(outcome), for: entry)
    }

    /// A line that is no device token.
    func addInvalid(_ entry: TokenSource.Entry) {
        self.add(OutcomeText(kind: "invalid", fields: ["detail": "this is no device token"]), for: entry)
    }

    private func add(_ text: OutcomeText, for entry: TokenSource.Entry) {
        self.done += 1
        self.counts[text.kind, default: 0] += 1
        if self.asJSON {
            self.show(text.json(line: entry.line, token: entry.token?.hex ?? entry.text))
        } else if text.kind != "accepted" {
            self.status.clear()
            let token = entry.token.map { "\($0)" } ?? "'\(entry.text.prefix(12))…'"
            self.show("line \(entry.line), \(token): \(text.sentence)")
        }
        self.status.show(ProgressText.of(done: self.done, total: self.total, rate: self.rate))
    }

    /// The sum, on standard error.
    func finish() {
        self.status.clear()
        let seconds = max(0.001, (ContinuousClock.now - self.start) / .seconds(1))
        let parts = self.counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        StandardError.line(
            "\(parts.isEmpty ? "nothing sent" : parts.joined(separator: ", ")) in "
                + "\(seconds.formatted(.number.precision(.fractionLength(2)))) s"
        )
    }

    private func show(_ line: String) {
        if !StandardOutput.line(line) { self.hasReader = false }
    }

    private var rate: Double { Double(self.done) / max(0.001, (.now - self.start) / .seconds(1)) }
}
