import Foundation
import PushSender
import PushSupport
import PushTypes

/// Prints the outcomes of pushes as a progress bar, failures and a summary, or as a line of JSON for each outcome.
final class OutcomeReport {
    private let asJSON: Bool
    /// The expected number of outcomes, or `nil` if it is not known.
    private let total: Int?
    private let start = ContinuousClock.now
    private var counts: [String: Int] = [:]
    private var done = 0
    private let status = StatusLine()
    /// A Boolean value that indicates whether standard output is open. It is `false` once its reader has closed it.
    private(set) var isOpen = true

    /// Creates a report as JSON or as text. If the number of outcomes is known in advance, it is `total`.
    init(asJSON: Bool, total: Int?) {
        // The previous version printed JSON wherever standard output was not a terminal.
        let isPiped = !asJSON && isatty(STDOUT_FILENO) == 0
        if isPiped { StandardError.line("warning: give --json for JSON lines; the next version prints text here") }
        (self.asJSON, self.total) = (asJSON || isPiped, total)
    }

    var isEmpty: Bool { self.done == 0 }

    /// A Boolean value that indicates whether there is at least one outcome and all pushes were accepted.
    var allAccepted: Bool { self.done > 0 && self.counts["accepted"] == self.done }

    /// Counts the outcome of a push to one token, and prints it if it is a failure or JSON is requested.
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
        self.status.show(ProgressText.of(done: self.done, total: self.total, rate: Double(self.done) / self.seconds))
    }

    func finish() {
        self.status.clear()
        let parts = self.counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        let sum = parts.isEmpty ? "nothing sent" : parts.joined(separator: ", ")
        StandardError.line("\(sum) in \(self.seconds.formatted(.number.precision(.fractionLength(2)))) s")
    }

    /// Prints a line, and records whether standard output has been closed.
    private func print(_ line: String) { if !StandardOutput.line(line) { self.isOpen = false } }

    /// The time since the start in seconds, at least 0.001.
    private var seconds: Double { max(0.001, (.now - self.start) / .seconds(1)) }
}

/// The outcome of a push, as text and as JSON.
struct OutcomeText {
    /// The kind of the outcome: accepted, rejected, not sent, unknown or invalid.
    let kind: String
    /// The members of the JSON object besides `line`, `token` and `outcome`. Members without a value are left out.
    let fields: [String: JSONValue?]

    static let invalid = OutcomeText(kind: "invalid", fields: ["detail": "this is not a device token"])

    func json(line: Int, token: String) throws -> String {
        let own: [String: JSONValue?] = ["line": line.json, "token": token.json, "outcome": self.kind.json]
        return try JSONValue.members(self.fields.merging(own) { $1 }).line
    }

    var sentence: String {
        let details = ["status", "reason", "detail", "advice"].compactMap { (self.fields[$0] ?? nil)?.plainText }
        // Text of the push service must not control the terminal.
        return "\(self.kind): \(details.joined(separator: ", "))".filter { (" "..."~").contains($0) }
    }

    private static func text(of advice: Rejection.Advice) -> String {
        switch advice {
        case .retry(.none): "try again later"
        case .retry(.some(let delay)): "try again after \(delay.components.seconds) s"
        case .dropToken: "drop the token"
        case .suspectToken: "check environment and topic, then drop the token"
        case .fixConfiguration: "fix the configuration"
        case .fixNotification: "fix the notification"
        }
    }
}

extension OutcomeText {
    /// Describes the outcome of a push. For a rejected push, the description includes advice for the reason.
    init(_ outcome: Outcome) {
        switch outcome {
        case .accepted(let accepted):
            self.init(kind: "accepted", fields: ["id": accepted.id.json, "uniqueId": accepted.uniqueID?.json])
        case .rejected(let rejection):
            let fields = [
                "status": rejection.status.json, "reason": rejection.reasonText.json,
                "timestamp": rejection.timestamp?.milliseconds.json, "advice": Self.text(of: rejection.advice).json,
            ]
            self.init(kind: "rejected", fields: fields)
        case .notSent(let failure): self.init(kind: "not sent", fields: ["detail": failure.description.json])
        case .unknown(let failure): self.init(kind: "unknown", fields: ["detail": failure.description.json])
        }
    }
}
