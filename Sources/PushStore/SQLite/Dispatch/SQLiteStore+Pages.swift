import GRDB
import Synchronization

extension SQLiteStore {
    package func page(_ claim: ShardClaim, limit: Int, needs: RecipientNeeds) async throws -> RecipientPage {
        try await self.pageReader.read(claim, limit: limit, needs: needs, from: self.database)
    }
}

/// The reader of recipients, with what it keeps in memory from one page to the next.
final class PageReader: Sendable {
    /// The index ranges that find the recipients of narrow audiences.
    private let drivers = AudienceDriverTable()
    private let ranges = Mutex(PageRanges())

    /// Reads the next page of a shard.
    func read(
        _ claim: ShardClaim,
        limit: Int,
        needs: RecipientNeeds,
        from store: StoreDatabase
    ) async throws -> RecipientPage {
        while true {
            var part = claim
            // Named tokens are looked up, and do not take long.
            if case .devices = claim.notification.audience { part.end = self.ranges.withLock { $0.end(of: claim) } }
            let page = try await store.readOnce { [part] database in
                let consent = try ConsentColumns(claim.notification, in: database)
                let query = RecipientQuery(part, limit: limit, needs: needs, consent: consent)
                let found = try query.fetch(driver: try self.driver(of: claim, in: database), in: database)
                return try self.page(found, of: part, limit: limit, query, in: database)
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

    /// Adds the recipients whose devices have left to a page, and shortens it if they are many.
    private func page(
        _ found: RecipientQuery.Found,
        of claim: ShardClaim,
        limit: Int,
        _ query: RecipientQuery,
        in database: Database
    ) throws -> RecipientPage {
        // The recipient of a named token is its position, below zero.
        let ids = [found.recipients.last?.id, found.ended.last?.id, found.held.last].compactMap { $0.map(abs) }
        let isFull = found.recipients.count + found.ended.count + found.held.count >= limit
        var page = RecipientPage(
            recipients: found.recipients,
            ended: found.ended,
            cursor: isFull ? ids.max() ?? claim.end : claim.end,
            isLast: !isFull
        )
        page.readAt = try RegistrationChanges.clock(in: database)
        let left = try query.left(upTo: page.cursor, in: database)
        if left.count >= limit, let last = left.last, last < page.cursor {
            // More devices have left than a page holds: the others come with the next page.
            page.recipients.removeAll { $0.id > last }
            page.ended.removeAll { $0.id > last }
            (page.cursor, page.isLast) = (last, false)
        }
        page.held = left + found.held.filter { $0 <= page.cursor }
        return page
    }

    /// Returns the index ranges of a narrow audience, chosen once per notification; `nil` to visit all devices.
    private func driver(of claim: ShardClaim, in database: Database) throws -> AudienceDriver? {
        guard claim.isNarrow, case .devices(let audience) = claim.notification.audience else { return nil }
        return try self.drivers.driver(of: claim.notificationNumber) {
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
    /// The most notifications that are kept in memory.
    private static let maximumCount = 100

    /// The numbers of ids of the next range of notifications; the others have one range for all.
    private var sizes: [Int64: Int64] = [:]

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
        if self.sizes.count >= Self.maximumCount { self.sizes = [:] }
        let size = self.sizes[claim.notificationNumber].map { max(1, $0 / 4) }
        self.sizes[claim.notificationNumber] = size ?? Self.first
    }
}
