import Foundation
import Synchronization

/// Returns the memory of closed connections to the operating system.
///
/// The C library of Linux keeps freed memory. After ten thousand concurrent connections, it would keep 230 MB.
final class MemoryTrimmer: Sendable {
    /// Counts closed connections and decides when memory is returned.
    struct Count: Sendable {
        static let threshold = 500

        private var closed = 0
        private var isScheduled = false

        /// Counts a closed connection.
        /// - Returns: Whether to return memory after ``MemoryTrimmer/delay``. The result is `false` if that is
        ///   scheduled already.
        mutating func connectionClosed() -> Bool {
            self.closed += 1
            guard self.closed >= Self.threshold, !self.isScheduled else { return false }
            self.isScheduled = true
            return true
        }

        mutating func willTrim() { self = Count() }
    }

    /// The delay before memory is returned, so that connections that close together cause one pass over the heap.
    private static let delay = DispatchTimeInterval.seconds(2)

    /// The function `malloc_trim`, which no imported header declares, or `nil` in a C library that does not have it.
    private static let trim: (@convention(c) (Int) -> CInt)? = dlsym(nil, "malloc_trim").map {
        unsafeBitCast($0, to: (@convention(c) (Int) -> CInt).self)
    }

    private let count = Mutex(Count())

    func connectionClosed() {
        guard self.count.withLock({ $0.connectionClosed() }) else { return }
        // Not on an event loop: the walk takes milliseconds.
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.delay) {
            self.count.withLock { $0.willTrim() }
            _ = Self.trim?(0)
        }
    }
}
