package import Foundation
import PushStore
package import PushTypes
import Synchronization

/// The waves that wait for downloads, by their notifications, as the dispatcher decided lately.
///
/// They are kept in memory only: after a restart each is decided anew.
package final class HeldWaveRegistry: Sendable {
    /// The age from which a decision says nothing any more, such as that about a notification that was paused.
    private static let age: Duration = .seconds(30)

    private struct Entry {
        var wait: HeldWave
        var decidedAt: Timestamp
    }

    private let entries = Mutex<[UUID: Entry]>([:])

    package init() {}

    /// Returns the wait of a notification; `nil` if it does not wait.
    /// - Parameter now: The time of the steady clock.
    package func wait(of notification: UUID, now: Timestamp) -> HeldWave? {
        self.entries.withLock { entries in
            entries[notification].flatMap { now.since($0.decidedAt) < Self.age ? $0.wait : nil }
        }
    }

    /// Returns the number of waiting notifications for each cause.
    package func counts(now: Timestamp) -> [HeldWave.Cause: Int] {
        self.entries.withLock { entries in
            entries = entries.filter { now.since($0.value.decidedAt) < Self.age }
            return entries.values.reduce(into: [:]) { $0[$1.wait.cause, default: 0] += 1 }
        }
    }

    func note(_ wait: HeldWave?, of notification: UUID, now: Timestamp) {
        self.entries.withLock { entries in
            // Bounds the memory: nothing is decided any more about those that were paused or cancelled.
            if wait != nil, entries[notification] == nil {
                entries = entries.filter { now.since($0.value.decidedAt) < Self.age }
            }
            entries[notification] = wait.map { Entry(wait: $0, decidedAt: now) }
        }
    }
}
