/// Numbers of RFC 9113 that hold for both ends.
@usableFromInline
package enum HTTP2Constants {
    package static let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    package static let largestStreamID: UInt32 = 0x7fff_ffff
    package static let largestWindow = 0x7fff_ffff
    package static let defaultWindow = 65_535
    /// What we let the peer send before we must confirm, per connection.
    package static let connectionReceiveWindow = 1 << 20
    /// Of one header block over all its frames, in bytes.
    package static let maximumHeaderBlock = 32_768
    /// The dynamic table: what RFC 9113 gives as the start value, and what we announce.
    @usableFromInline package static let headerTableSize = 4096
}

/// Stops a peer that sends frames without end that bring nothing forward.
@usableFromInline
package struct HTTP2FloodLimiter: Sendable {
    /// Idle frames that may come in a row.
    @usableFromInline package static let maximum = 10_000
    /// What a completed exchange is worth, and each look at the clock.
    @usableFromInline package static let earned = 64

    @usableFromInline var left = Self.maximum

    package init() {}

    /// `false` when the budget is used up.
    @inlinable
    package mutating func spend(_ cost: Int = 1) -> Bool {
        self.left -= cost
        return self.left >= 0
    }

    @inlinable
    package mutating func earn() {
        self.left = min(Self.maximum, self.left + Self.earned)
    }
}
