import Foundation
package import PushSupport

/// The response to a command that asks for something.
package struct SimulatorResponse: Hashable, Sendable {
    /// The text for people.
    package let lines: [String]
    /// The same as JSON; `null` for what has none.
    package let json: JSONValue

    package init(lines: [String], json: JSONValue) { (self.lines, self.json) = (lines, json) }

    /// Makes the answer to `help`, which is for people alone.
    init(help text: String) { self.init(lines: text.components(separatedBy: "\n"), json: .null) }
}

/// The error of a wait whose time is over.
package struct WaitError: Error, CustomStringConvertible {
    package let description: String

    init(name: SimulatorEvent.Name, count: Int, seconds: Int, present: Int, _ problem: String?) {
        let last = problem.map { "; the last problem: \($0)" } ?? ""
        self.description = "\(present) of \(count) events '\(name.rawValue)' within \(seconds) s\(last)"
    }
}
