import Foundation

/// The delay before a retry: exponential with full jitter, and never less than a response asks for.
struct RetryDelay: Codable, Equatable, Sendable {
    /// The longest first delay, and the longest delay after any number of failures, in seconds.
    static let (first, longest): (TimeInterval, TimeInterval) = (2, 3600)
    /// The longest wait, in seconds. A stored time that is further away was set before the clock was set back.
    static let bound: TimeInterval = 26 * 3600

    private(set) var failures = 0
    private var until: Date?
    /// `true` for a wait that a launch does not end: the provider has asked for it, or nothing on the device can help.
    private var isFirm = false

    /// Returns the time before which nothing is sent; `nil` if it has passed.
    func wait(now: Date) -> Date? {
        guard let until, until > now, until.timeIntervalSince(now) <= Self.bound else { return nil }
        return until
    }

    /// Counts a failure and returns the delay before the retry.
    /// - Parameters:
    ///   - after: The time that the response asks for.
    ///   - random: A number from 0 to 1.
    mutating func failed(after: Duration?, now: Date, random: Double) -> Duration {
        let most = min(Self.longest, Self.first * pow(2, Double(min(self.failures, 30))))
        let delay = min(Self.bound, Double(after?.components.seconds ?? 0) + most * min(max(random, 0), 1))
        self.failures = min(self.failures, 1000) + 1
        self.until = now.addingTimeInterval(delay)
        self.isFirm = after != nil
        return .milliseconds(Int64(delay * 1000))
    }

    /// Waits for a fixed time, however many failures came before.
    mutating func pause(for time: TimeInterval, now: Date) {
        self.until = now.addingTimeInterval(time)
        self.isFirm = true
    }

    /// Ends a wait that is not firm: after a launch, the device may be in another network.
    mutating func launched() {
        if !self.isFirm { self = RetryDelay() }
    }

    mutating func succeeded() { self = RetryDelay() }
}
