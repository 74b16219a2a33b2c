package import Foundation
package import PushTypes

/// The deadlines of many sessions, to the second, so that one timer serves them all.
///
/// A deadline that moves away stays where it is: its owner is asked too early once, and adds the later one then.
package struct TimerWheel: Sendable {
    /// The sessions by the second in which they are due, rounded up.
    private var slots: [Int64: [UUID]] = [:]

    package init() {}

    /// The end of the earliest second with a session; `nil` for none.
    package var next: Timestamp? { self.slots.keys.min().map(Timestamp.init(seconds:)) }

    package mutating func add(_ id: UUID, at deadline: Timestamp) {
        let (seconds, isWhole) = (deadline.seconds, Timestamp(seconds: deadline.seconds) == deadline)
        self.slots[isWhole || seconds == .max ? seconds : seconds + 1, default: []].append(id)
    }

    /// Removes the sessions that are due.
    package mutating func takeDue(at now: Timestamp) -> [UUID] {
        let due = self.slots.keys.filter { Timestamp(seconds: $0) <= now }.sorted()
        return due.flatMap { self.slots.removeValue(forKey: $0) ?? [] }
    }
}
