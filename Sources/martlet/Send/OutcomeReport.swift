import Foundation
import PushProtocol
import PushSender

/// Shows outcomes: one JSON line each for programs; for people a progress bar, what went wrong, and a sum.
final class OutcomeReport {
    private let asJSON: Bool
    private let total: Int?
    private let start = ContinuousClock.now
    private var shown = ContinuousClock.now
    private var counts: [String: Int] = [:]
    private var done = 0
    private let showsProgress: Bool
    /// Whether anybody still reads the outcomes.
    private(set) var hasReader = true

    /// - Parameter total: how many outcomes there will be, if that is known.
    init(asJSON: Bool, total: Int?) {
        self.asJSON = asJSON || isatty(STDOUT_FILENO) == 0
        self.total = total
        self.showsProgress = isatty(STDERR_FILENO) == 1
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
            self.clearProgress()
            let token = entry.token.map { "\($0)" } ?? "'\(entry.text.prefix(12))…'"
            self.show("line \(entry.line), \(token): \(text.sentence)")
        }
        if self.showsProgress, ContinuousClock.now - self.shown > .milliseconds(200) { self.showProgress() }
    }

    /// The sum, on standard error.
    func finish() {
        self.clearProgress()
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

    private func showProgress() {
        self.shown = .now
        let rate = Double(self.done) / max(0.001, (self.shown - self.start) / .seconds(1))
        var text = "\(self.done)"
        if let total, total > 0 {
            let share = min(1, Double(self.done) / Double(total))
            let filled = Int(share * 30)
            text = "[\(String(repeating: "#", count: filled))\(String(repeating: ".", count: 30 - filled))] "
            text += "\(self.done) of \(total)"
        }
        StandardError.write("\r\u{1b}[K\(text), \(Int(rate))/s")
    }

    private func clearProgress() {
        if self.showsProgress { StandardError.write("\r\u{1b}[K") }
    }
}
