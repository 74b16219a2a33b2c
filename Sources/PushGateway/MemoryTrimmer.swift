import Foundation
import Synchronization

/// Gives the memory of closed connections back to the system.
///
/// The C library of Linux keeps what is freed in between for later: ten thousand connections that came at once and left
/// again would cost 230 MB for good.
final class MemoryTrimmer: Sendable {
    /// Decides when there is something to give back.
    struct Count: Sendable {
        /// Fewer closed connections are not worth the walk through the heap.
        static let threshold = 500

        private var closed = 0
        private var isScheduled = false

        /// A connection was closed: whether the memory is to be given back a little later.
        mutating func connectionClosed() -> Bool {
            self.closed += 1
            guard self.closed >= Self.threshold, !self.isScheduled else { return false }
            self.isScheduled = true
            return true
        }

        mutating func willGiveBack() {
            self = Count()
        }
    }

    /// So that one walk serves a whole wave of closing connections.
    private static let delay = DispatchTimeInterval.seconds(2)

    /// `malloc_trim`, which is in no header that Swift sees, and only in the C library that needs it.
    private static let trim: (@convention(c) (Int) -> CInt)? = dlsym(nil, "malloc_trim").map {
        unsafeBitCast($0, to: (@convention(c) (Int) -> CInt).self)
    }

    private let count = Mutex(Count())

    func connectionClosed() {
        guard self.count.withLock({ $0.connectionClosed() }) else { return }
        // Not on an event loop: the walk takes milliseconds.
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.delay) {
            self.count.withLock { $0.willGiveBack() }
            _ = Self.trim?(0)
        }
    }
}
