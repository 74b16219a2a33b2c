import PushSupport

/// The ranges of ids in which the pages of costly audiences are read, so that each has a snapshot that is in nobody's way.
///
/// A page is one read of the whole shard, until the log was folded meanwhile. Then it is a short range, which grows again with each that is
/// read in time.
struct PageRanges: Sendable {
    /// The number of ids of the first range.
    private static let first: Int64 = 1024

    /// The numbers of ids of the next range of notifications; the others have one range for all.
    private var sizes = BoundedCache<Int64, Int64>(maximum: 100)

    /// Returns the last id of the next range of a shard.
    func end(of claim: ShardClaim) -> Int64 {
        guard let size = self.sizes[claim.notificationNumber] else { return claim.end }
        let (end, hasOverflow) = claim.cursor.addingReportingOverflow(size)
        return hasOverflow ? claim.end : min(claim.end, end)
    }

    /// Notes that a range was read in time.
    mutating func completed(_ claim: ShardClaim, upTo end: Int64) {
        guard let size = self.sizes[claim.notificationNumber] else { return }
        self.sizes[claim.notificationNumber] = end < claim.end && size < Int64.max / 2 ? size * 2 : nil
    }

    /// Notes that the log was folded before a range had been read.
    mutating func interrupted(_ claim: ShardClaim) {
        let size = self.sizes[claim.notificationNumber].map { max(1, $0 / 4) }
        self.sizes[claim.notificationNumber] = size ?? Self.first
    }
}
