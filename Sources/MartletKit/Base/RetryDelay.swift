import Foundation

/// The delay before a retry: the delay that the response requests, plus an exponential back-off, which is multiplied by
/// a random number.
struct RetryDelay: Codable, Equatable, Sendable {
    /// The maximum back-off after the first failure, and the maximum back-off after any number of failures, in seconds.
    static let (first, longest): (TimeInterval, TimeInterval) = (2, 3600)
    /// The maximum delay, in seconds. A stored delay that ends later is ignored, because the clock was set back.
    static let bound: TimeInterval = 26 * 3600

    private(set) var failures = 0
    private var until: Date?
    /// A Boolean value that indicates whether the delay continues at a launch of the app, because the provider
    /// requested it or a retry cannot help.
    private var isFirm = false

    /// Returns the time until which no request is sent, or `nil` if requests may be sent now.
    func wait(now: Date) -> Date? {
        guard let until, until > now, until.timeIntervalSince(now) <= Self.bound else { return nil }
        return until
    }

    /// Counts a failure and returns the delay before the retry.
    /// - Parameters:
    ///   - after: The delay that the response requests, or `nil` without one. A launch of the app does not end it.
    ///   - random: A random number from 0 to 1.
    mutating func failed(after: Duration?, now: Date, random: Double) -> Duration {
        let most = min(Self.longest, Self.first * pow(2, Double(min(self.failures, 30))))
        let delay = min(Self.bound, Double(after?.components.seconds ?? 0) + most * min(max(random, 0), 1))
        self.failures = min(self.failures, 1000) + 1
        self.until = now.addingTimeInterval(delay)
        self.isFirm = after != nil
        return .milliseconds(Int64(delay * 1000))
    }

    /// Starts a delay of a fixed length, in seconds, regardless of earlier failures. A launch does not end it.
    mutating func pause(for time: TimeInterval, now: Date) {
        self.until = now.addingTimeInterval(time)
        self.isFirm = true
    }

    /// Ends the delay at a launch of the app, because the device may be on another network now. A delay that the
    /// provider requested, or that ``pause(for:now:)`` started, continues.
    mutating func launched() {
        if !self.isFirm { self = RetryDelay() }
    }

    mutating func succeeded() { self = RetryDelay() }
}
