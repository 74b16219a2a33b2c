import GRDB
import PushSupport
import Synchronization

/// The reader of recipients, with what it keeps in memory from one page to the next.
final class PageReader: Sendable {
    /// The index ranges that find the recipients of narrow audiences, by notification: choosing one costs more than using it.
    private let drivers = SharedCache<Int64, AudienceDriver?>(maximum: 100)
    private let ranges = Mutex(PageRanges())

    /// Reads the next page of a shard.
    /// - Parameter body: Reads the next page of a part of the shard, with the index ranges of a narrow audience.
    func read(
        _ claim: ShardClaim,
        from store: StoreDatabase,
        _ body: @Sendable (_ part: ShardClaim, AudienceDriver?, Database) throws -> RecipientPage
    ) async throws -> RecipientPage {
        while true {
            var part = claim
            // Named tokens are looked up, and do not take long.
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

    /// Returns the index ranges of a narrow audience, chosen once per notification; `nil` to visit all devices.
    private func driver(of claim: ShardClaim, in database: Database) throws -> AudienceDriver? {
        guard claim.isNarrow, case .devices(let audience) = claim.notification.audience else { return nil }
        return try self.drivers.value(claim.notificationNumber) {
            let (app, kind) = (claim.notification.app, claim.notification.content.tokenKind)
            return try AudienceDriver.choose(audience, of: kind, app: app, limit: .max, in: database)
        }
    }
}

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
