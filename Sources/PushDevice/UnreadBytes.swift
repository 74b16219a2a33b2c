import Synchronization

/// The bytes of the events that a session has not taken yet.
final class UnreadBytes: Sendable {
    /// The most: 8 MB.
    static let maximum = 8 << 20

    private let count = Mutex(0)

    /// Adds the bytes of an event.
    /// - Returns: `false`, and adds nothing, if there is no room for them.
    func add(_ bytes: Int) -> Bool {
        self.count.withLock { count in
            guard bytes <= Self.maximum - count else { return false }
            count += bytes
            return true
        }
    }

    /// Removes the bytes of an event that was taken.
    func remove(_ bytes: Int) { self.count.withLock { $0 -= bytes } }
}
