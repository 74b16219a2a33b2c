/// Limits the idle frames of a peer, which advance no request, such as PING or empty DATA frames.
struct HTTP2FloodLimiter: Sendable {
    /// The maximum and initial credit of a peer, in idle frames. A peer that exceeds its credit loses the connection.
    static let maximum = 10_000
    /// The credit, in idle frames, that a peer receives for each completed request and at regular intervals.
    static let earned = 64

    private var remaining = Self.maximum

    /// Charges the peer with `cost` idle frames.
    /// - Throws: ``HTTP2ConnectionError`` if the peer's credit is used up.
    mutating func spend(_ cost: Int = 1) throws(HTTP2ConnectionError) {
        self.remaining -= cost
        guard self.remaining >= 0 else { throw HTTP2ConnectionError(.enhanceYourCalm, "too many idle frames") }
    }

    mutating func earn() { self.remaining = min(Self.maximum, self.remaining + Self.earned) }
}
