import Foundation

/// Tells what happens at each joint, one line each: seconds since the start, the role, what it did.
struct DemoNarrator: Sendable {
    enum Role: String {
        case gateway
        case provider
        case device
        case demo
    }

    private let start = ContinuousClock.now

    func say(_ role: Role, _ text: String) {
        let milliseconds = (ContinuousClock.now - self.start) / .milliseconds(1)
        let time = String(format: "%7.3f s", milliseconds / 1000)
        StandardOutput.line("\(time)  \(role.rawValue.padding(toLength: 9, withPad: " ", startingAt: 0))  \(text)")
    }
}
