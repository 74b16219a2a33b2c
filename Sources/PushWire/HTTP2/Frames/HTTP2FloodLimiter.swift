/// Bounds the frames of a peer that advance no request, such as PING or empty DATA frames.
struct HTTP2FloodLimiter: Sendable {
    /// The maximum number of idle frames in a row.
    static let maximum = 10_000
    /// The number of idle frames that a completed request earns, as does each check of the deadlines.
    static let earned = 64

    private var remaining = Self.maximum

    /// Counts a frame that advances no request as `cost` idle frames.
    mutating func spend(_ cost: Int = 1) throws(HTTP2ConnectionError) {
        self.remaining -= cost
        guard self.remaining >= 0 else { throw HTTP2ConnectionError(.enhanceYourCalm, "too many idle frames") }
    }

    mutating func earn() { self.remaining = min(Self.maximum, self.remaining + Self.earned) }
}
