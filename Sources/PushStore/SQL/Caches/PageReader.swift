import ProviderModel
import PushSupport
import Synchronization

/// Reads pages of recipients. It caches the index ranges of narrow audiences and the sizes of reads.
final class PageReader: Sendable {
    /// The index ranges of narrow audiences, keyed by notification. Choosing them costs more than using them.
    private let drivers = SharedCache<Int64, AudienceDriver?>(maximum: 100)
    private let ranges = Mutex(PageRanges())

    /// Reads the next page of a shard.
    /// - Parameter body: A function that reads the next page of a part of the shard, using index ranges if given.
    func read(
        _ claim: ShardClaim,
        from store: any StoreDatabase,
        _ body: @escaping @Sendable (_ part: ShardClaim, AudienceDriver?, any SQLConnection) throws -> RecipientPage
    ) async throws -> RecipientPage {
        while true {
            var part = claim
            // Named tokens are looked up by key, which is fast.
            if case .devices = claim.notification.audience { part.end = self.ranges.withLock { $0.end(of: claim) } }
            let page = try await store.readOnce { [part] database in
                try body(part, try self.driver(of: claim, in: database), database)
            }
            guard var page else {
                self.ranges.withLock { $0.interrupted(claim) }
                continue
            }
            self.ranges.withLock { [part] in $0.completed(claim, upTo: part.end) }
            page.isLast = page.isLast && part.end == claim.end
            return page
        }
    }

    /// Returns the index ranges of a narrow audience, chosen once per notification, or `nil` to scan all devices.
    private func driver(of claim: ShardClaim, in database: any SQLConnection) throws -> AudienceDriver? {
        guard claim.isNarrow, case .devices(let audience) = claim.notification.audience else { return nil }
        return try self.drivers.value(claim.notificationNumber) {
            let (app, kind) = (claim.notification.app, claim.notification.content.tokenKind)
            return try AudienceDriver.choose(audience, of: kind, app: app, limit: .max, in: database)
        }
    }
}

/// The id ranges in which pages of costly audiences are read, so that no read holds its snapshot for so long that it
/// prevents a truncating checkpoint of the write-ahead log.
///
/// At first a page is a single read of the whole shard. After a checkpoint has interrupted a read, a short range is
/// read, which grows with each completed read.
struct PageRanges: Sendable {
    /// The number of ids in the first range after an interruption.
    private static let first: Int64 = 1024

    /// The number of ids in the next range, keyed by notification. Without an entry, the whole shard is read.
    private var sizes = BoundedCache<Int64, Int64>(maximum: 100)

    func end(of claim: ShardClaim) -> Int64 {
        guard let size = self.sizes[claim.notificationNumber] else { return claim.end }
        let (end, hasOverflow) = claim.cursor.addingReportingOverflow(size)
        return hasOverflow ? claim.end : min(claim.end, end)
    }

    /// Doubles the size of the next range, after a range was read completely.
    mutating func completed(_ claim: ShardClaim, upTo end: Int64) {
        guard let size = self.sizes[claim.notificationNumber] else { return }
        self.sizes[claim.notificationNumber] = end < claim.end && size < Int64.max / 2 ? size * 2 : nil
    }

    /// Reduces the next range to a quarter or, after the first interruption by a checkpoint, to ``first``.
    mutating func interrupted(_ claim: ShardClaim) {
        let size = self.sizes[claim.notificationNumber].map { max(1, $0 / 4) }
        self.sizes[claim.notificationNumber] = size ?? Self.first
    }
}
