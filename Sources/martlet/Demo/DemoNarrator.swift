import Foundation

/// Prints each step of the demo as one line: seconds since the start, the role, and what it did.
struct DemoNarrator: Sendable {
    /// The roles that take part.
    enum Role: String {
        case gateway, provider, device
    }

    private let start = ContinuousClock.now

    /// Prints one line.
    func report(_ role: Role, _ text: String) {
        let milliseconds = (ContinuousClock.now - self.start) / .milliseconds(1)
        let time = String(format: "%7.3f s", milliseconds / 1000)
        StandardOutput.line("\(time)  \(role.rawValue.padding(toLength: 9, withPad: " ", startingAt: 0))  \(text)")
    }
}
