import PushTypes

/// Shares a bandwidth among open downloads.
///
/// Each download reserves one piece at a time, and pieces are sent in the order of their reservations. All pieces have
/// the same length, so that downloads with fast enough connections get equal shares. The caller passes in the time.
struct BandwidthLimiter: Sendable {
    /// The maximum time for which unused bandwidth is kept for later pieces.
    ///
    /// So a second may have up to 4 % more bytes than the limit, and another 4 % for late pieces
    /// (``renew(_:due:now:)``).
    static let burst: Duration = .milliseconds(40)
    /// The minimum and maximum length of a piece, in bytes.
    static let pieces = 4 * 1024...128 * 1024
    /// The target for the time between two pieces of a download, in seconds. It determines the length of a piece within
    /// ``pieces``.
    private static let longestPause = 5

    /// The maximum number of bytes per second, or 0 for no limit.
    private let rate: Int
    /// The time since 1970 at which all reserved pieces will have been sent, or `nil` before the first one.
    private var freeAt: Duration?

    init(rate: Int) { self.rate = max(0, rate) }

    /// Returns the length of the next piece of a download, in bytes, while `open` downloads are open.
    func piece(open: Int) -> Int {
        guard self.rate > 0 else { return Self.pieces.upperBound }
        let share = self.rate.multipliedReportingOverflow(by: Self.longestPause)
        let piece = (share.overflow ? Int.max : share.partialValue) / max(1, open)
        return min(max(piece, Self.pieces.lowerBound), Self.pieces.upperBound)
    }

    /// Reserves bandwidth for a piece.
    /// - Returns: The time to wait before the piece may be sent, or zero without a limit.
    mutating func reserve(_ bytes: Int, now: Timestamp) -> Duration {
        guard self.rate > 0 else { return .zero }
        let now = Duration.milliseconds(now.milliseconds)
        let start = max(self.freeAt ?? now, now - Self.burst)
        self.freeAt = start + .seconds(Double(max(0, bytes)) / Double(self.rate))
        return max(.zero, start - now)
    }

    /// Reserves bandwidth again for a piece that could not be sent when it was due, because the process was suspended.
    /// Otherwise all pieces that became due meanwhile would be sent at the same time.
    /// - Returns: The time to wait before the piece may be sent, or zero if the piece is not late.
    mutating func renew(_ bytes: Int, due: Timestamp, now: Timestamp) -> Duration {
        guard self.rate > 0, now.since(due) > Self.burst else { return .zero }
        return self.reserve(bytes, now: now)
    }

    /// Releases bandwidth that was reserved but will not be used.
    mutating func release(_ bytes: Int) {
        guard self.rate > 0, let freeAt else { return }
        self.freeAt = freeAt - .seconds(Double(max(0, bytes)) / Double(self.rate))
    }
}
