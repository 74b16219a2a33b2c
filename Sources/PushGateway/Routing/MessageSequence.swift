import Synchronization

/// The counters of messages and sessions, shared by all environments of a gateway.
final class MessageSequence: Sendable {
    private let last: Atomic<Int64>
    private let lastSession = Atomic<UInt64>(0)

    /// - Parameter last: The highest number that is in use already.
    init(last: Int64) { self.last = Atomic(last) }

    /// Returns the first of `count` new numbers in a row.
    func next(_ count: Int = 1) -> Int64 { self.last.add(Int64(count), ordering: .relaxed).oldValue + 1 }

    func nextSession() -> UInt64 { self.lastSession.add(1, ordering: .relaxed).newValue }
}
