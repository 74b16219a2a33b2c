import GRDB

/// The decision whether a device of a page waits until all shards have been read.
///
/// It waits where another device may have had the notification for it: one whose token it took, one that was merged
/// into it, the one with its token in the other environment, or itself in its earlier time zone.
struct RecipientChanges {
    private let query: RecipientQuery
    private let zone: ShardPlan.Zone
    private let shard: Int64

    init(_ query: RecipientQuery) {
        self.query = query
        (self.zone, self.shard) = (query.zone, query.shard)
    }

    /// Returns `true` if there is anything to decide for a row of ``RecipientQuery``, which is so for few.
    func mayConcern(_ row: RawStatement) -> Bool {
        !row.isNull(5) && row.integer(5) > self.query.openedAfter
            || !row.isNull(6) && self.query.notification.environment == nil
    }

    /// Returns `true` if a device waits.
    func holds(_ device: Int64, in database: Database) throws -> Bool {
        if try self.hasTwinOrLink(device, in: database) { return true }
        guard self.zone != .any else { return false }
        // It may be in a page in flight, of its earlier time zone.
        let sql = "SELECT 1 FROM shard WHERE notification = ? AND number != ? AND lease IS NOT NULL LIMIT 1"
        return try database.hasRow(sql: sql, self.query.number, self.shard)
    }

    private func hasTwinOrLink(_ device: Int64, in database: Database) throws -> Bool {
        let sql = """
            SELECT 1 FROM device WHERE id = ?1 AND (
                ?3 AND twin IS NOT NULL
                OR EXISTS (SELECT 1 FROM deviceLink WHERE deviceLink.device = ?1 AND since > ?2))
            """
        let isOfBoth: Int64 = self.query.notification.environment == nil ? 1 : 0
        return try database.hasRow(sql: sql, device, self.query.openedAfter, isOfBoth)
    }
}
