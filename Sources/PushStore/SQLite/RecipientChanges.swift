import GRDB

/// The decision whether a device of a page waits for the end of the walk.
///
/// It waits where another device may have had the notification for it: one whose token it took, one that went into it, the
/// one with its token in the other environment, or itself in the time zone that it came from.
struct RecipientChanges {
    private let query: RecipientQuery
    private let zone: ShardPlan.Zone
    private let shard: Int64

    init(_ query: RecipientQuery) {
        self.query = query
        (self.zone, self.shard) = (query.zone, query.shard)
    }

    /// Tells whether there is anything to decide for a row, as ``RecipientQuery`` reads it: for few there is.
    func mayConcern(_ row: RawStatement) -> Bool {
        !row.isNull(5) && row.integer(5) > self.query.openedAfter
            || !row.isNull(6) && self.query.notification.environment == nil
    }

    func holds(_ device: Int64, in database: Database) throws -> Bool {
        if try self.hasTwinOrLink(device, in: database) { return true }
        guard self.zone != .any else { return false }
        // It may be in a page in flight, of the zone that it came from.
        let other = try RawStatement(
            "SELECT 1 FROM shard WHERE notification = ? AND number != ? AND lease IS NOT NULL LIMIT 1",
            in: database
        )
        defer { other.reset() }
        other.bind(self.query.number, at: 1)
        other.bind(self.shard, at: 2)
        return try other.step()
    }

    private func hasTwinOrLink(_ device: Int64, in database: Database) throws -> Bool {
        let statement = try RawStatement(
            """
            SELECT 1 FROM device WHERE id = ?1 AND (
                ?3 AND twin IS NOT NULL
                OR EXISTS (SELECT 1 FROM deviceLink WHERE deviceLink.device = ?1 AND since > ?2))
            """,
            in: database
        )
        defer { statement.reset() }
        statement.bind(device, at: 1)
        statement.bind(self.query.openedAfter, at: 2)
        statement.bind(Int64(self.query.notification.environment == nil ? 1 : 0), at: 3)
        return try statement.step()
    }
}
