package import PushStore
package import PushSupport
package import PushTypes
import Synchronization

/// The clock of a store that several nodes share. All nodes follow it, whatever the clocks of their computers show.
///
/// Both of its clocks are the same one: the computer's steady clock, shifted to the time of the store.
package final class SharedTime: TimeSource {
    /// The maximum difference from the store's clock that is not corrected, as the time of an answer varies.
    private static let tolerance: Duration = .milliseconds(50)
    /// The maximum time of an answer from which the clock is corrected. It is half of that off at most.
    private static let longestAnswer: Duration = .milliseconds(200)

    private let base: any TimeSource
    private let shift = Atomic<Int64>(0)

    /// Creates a clock and sets it to the store's time.
    package init(_ store: any NodeStore, base: any TimeSource) async throws {
        self.base = base
        try await self.follow(store)
    }

    package var now: Timestamp { self.steady }
    package var steady: Timestamp {
        self.base.steady.advanced(by: .milliseconds(self.shift.load(ordering: .relaxed)))
    }

    /// The time by which the wall clock of this computer is ahead of the store's.
    package var offset: Duration { self.base.now.since(self.now) }

    /// Sets the clock to the store's time, if they differ by more than the tolerance.
    package func follow(_ store: any NodeStore) async throws {
        let start = self.base.steady
        let time = try await store.clock()
        let elapsed = self.base.steady.since(start)
        guard elapsed <= Self.longestAnswer || self.shift.load(ordering: .relaxed) == 0 else { return }
        let middle = start.advanced(by: elapsed / 2)
        let shift = time.since(middle).milliseconds
        let known = self.shift.load(ordering: .relaxed)
        guard abs(shift - known) > Self.tolerance.milliseconds else { return }
        self.shift.store(shift, ordering: .relaxed)
    }
}
