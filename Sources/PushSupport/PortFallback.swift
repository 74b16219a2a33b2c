package import PushTypes

/// A state machine that chooses between a service's first port and its fallback port, for networks that block one.
///
/// After a failed attempt, the next one uses the other port. While the fallback port is in use, the first port is tried
/// again after a delay, which grows with each failure of the first port.
package struct PortFallback: Hashable, Sendable {
    /// A change of the port in use, to be logged.
    package enum Change: Hashable, Sendable {
        /// The change to the fallback port: the service was reached on it, and was last reached on the first port.
        case fellBack
        /// The change back to the first port, on which the service was reached again.
        case returned
    }

    /// The delay before an attempt on the first port while the fallback port is in use: 1 min, doubled per failure.
    package static let returnDelay = Backoff(base: .seconds(60), maximum: .seconds(30 * 60))

    package let first: Int
    package let second: Int
    /// The port for the next attempt.
    package private(set) var port: Int
    /// The time by the steady clock of the next attempt on the first port, or `nil` while that port is in use.
    package private(set) var returnTime: Timestamp?

    private let delay: Backoff
    private var reached: Int
    /// The ports that have failed since the service was last reached.
    private var failedPorts: Set<Int> = []
    private var failedReturns = 0
    /// The time of the last return to the first port, or `nil` if there was none.
    private var returnedAt: Timestamp?

    package init(first: Int, second: Int, delay: Backoff = Self.returnDelay) {
        (self.first, self.second, self.delay) = (first, second, delay)
        (self.port, self.reached) = (first, first)
    }

    /// A Boolean value that indicates whether both ports have failed since the service was last reached.
    package var allFailed: Bool { self.failedPorts.count == 2 }

    /// Records an attempt that opened no connection, possibly because of the port. The next one uses the other port.
    package mutating func failed(_ port: Int, now: Timestamp) {
        self.failedPorts.insert(port)
        if self.port == port { self.port = port == self.first ? self.second : self.first }
        if port == self.first, self.reached == self.second { self.scheduleReturn(now: now) }
    }

    /// Records a connection that was opened.
    /// - Returns: The change of the port in use, or `nil` for none.
    package mutating func opened(_ port: Int, now: Timestamp) -> Change? {
        self.failedPorts = []
        self.port = port
        guard port != self.reached else { return nil }
        self.reached = port
        guard port == self.second else {
            self.returnTime = nil
            self.returnedAt = now
            return .returned
        }
        // A port that works only for a short time at a time is tried as rarely as one that does not work.
        if let returnedAt, now >= returnedAt.advanced(by: self.delay.maximum) { self.failedReturns = 0 }
        self.scheduleReturn(now: now)
        return .fellBack
    }

    /// Returns whether the time for an attempt on the first port has come.
    package func isReturnDue(now: Timestamp) -> Bool { self.returnTime.map { $0 <= now } ?? false }

    private mutating func scheduleReturn(now: Timestamp) {
        self.failedReturns += 1
        self.returnTime = now.advanced(by: self.delay.limit(afterFailures: self.failedReturns))
    }
}
