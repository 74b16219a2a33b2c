import AppSimulator
import Foundation
import PushSupport

/// Prints what the simulator tells, on standard output.
struct SimulatorPrinter: Sendable {
    /// The width of the column with the names of events.
    private static let width = 12

    /// Indicates one line of JSON per event.
    let asJSON: Bool

    /// Prints an event: its name, then its lines below each other.
    func print(_ event: SimulatorEvent) {
        guard !self.asJSON else { return _ = (try? event.json.line).map { StandardOutput.line($0) } }
        StandardOutput.line(Self.text(event))
    }

    /// Prints the answer to a command. Help is not for programs.
    func print(_ answer: SimulatorResponse) {
        if !self.asJSON {
            StandardOutput.line(answer.lines.map(\.printable).joined(separator: "\n"))
        } else if answer.json != .null {
            _ = (try? answer.json.line).map { StandardOutput.line($0) }
        }
    }

    /// Returns an event as text.
    static func text(_ event: SimulatorEvent) -> String {
        let name = event.name.rawValue.padding(toLength: Self.width, withPad: " ", startingAt: 0)
        let indent = String(repeating: " ", count: Self.width)
        return event.lines.enumerated().map { index, line in
            // A text of several lines stays in its column, and cannot look like an event.
            let parts = line.split(whereSeparator: \.isNewline).map { String($0).printable }
            return (index == 0 ? name : indent) + parts.joined(separator: "\n\(indent)")
        }.joined(separator: "\n")
    }
}
