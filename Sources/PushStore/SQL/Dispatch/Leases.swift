import PushTypes

/// The leases under which shards and retries are sent (docs/decisions/0019).
///
/// A lease is identified by its fencing number. Each claim gets a higher number. Nothing is written under a lost lease.
enum Leases {
    /// Adds a lease, which expires at `until` by the steady clock.
    /// - Returns: The fencing number of the lease.
    static func take(owner: Int64, until: Timestamp, in database: any SQLConnection) throws -> Int64 {
        if database.hasOneWriter {
            let lease: ColumnValues = ["owner": owner, "until": until.milliseconds]
            return try database.insert(into: "lease", lease, returning: "fence")
        }
        let sql = """
            INSERT INTO lease (owner, until) SELECT ?1, ?2
            WHERE EXISTS (SELECT 1 FROM node WHERE id = ?1 AND endedAt IS NULL) RETURNING fence
            """
        // Another node has taken this one for dead. It is a new node after its next heartbeat.
        guard let fence = try database.integer(sql: sql, [owner, until.milliseconds])
        else { throw StoreError.unavailable(why: "the other nodes took this one for dead") }
        return fence
    }

    /// Returns whether the owner still holds the lease.
    static func isHeld(_ fence: Int64, by owner: Int64, in database: any SQLConnection) throws -> Bool {
        return try database.hasRow(sql: "SELECT 1 FROM lease WHERE fence = ? AND owner = ?", fence, owner)
    }

    static func extend(_ fence: Int64, until: Timestamp, in database: any SQLConnection) throws {
        try database.run(sql: "UPDATE lease SET until = ? WHERE fence = ?", until.milliseconds, fence)
    }

    /// Returns the leases under which no owner works any more.
    ///
    /// A caller's lease that is not among `held` is lost. Any other, or with `nil` any lease, is lost once it expires,
    /// unless `now` is `nil`, as in a shared store: there, another node's leases end with the node.
    static func lost(owner: Int64, held: ClaimFilter.Held?, now: Timestamp?, in database: any SQLConnection) throws
        -> [Int64]
    {
        let statement = try database.prepare("SELECT fence, owner, until FROM lease")
        defer { statement.reset() }
        var lost: [Int64] = []
        while try statement.step() {
            let fence = statement.integer(0)
            let isLost =
                if let held, statement.integer(1) == owner {
                    fence <= held.upTo && !held.fences.contains(fence)
                } else {
                    now.map { statement.integer(2) <= $0.milliseconds } ?? false
                }
            if isLost { lost.append(fence) }
        }
        return lost
    }

    /// Ends the leases that ``lost(owner:held:now:in:)`` returns.
    static func releaseLost(owner: Int64, held: ClaimFilter.Held?, now: Timestamp?, in database: any SQLConnection)
        throws
    {
        try Self.release(try Self.lost(owner: owner, held: held, now: now, in: database), in: database)
    }

    /// Ends leases, and releases the shards and retries that were claimed under them.
    static func release(_ fences: [Int64], in database: any SQLConnection) throws {
        for fence in fences {
            let held = try database.integers(sql: "SELECT notification FROM shard WHERE lease = ?", [fence])
            try database.lock(.exclusive, "notification", "number", held)
            try Self.free("shard", fence, in: database)
            try Self.free("retry", fence, in: database)
            try Self.end(fence, in: database)
            for notification in held { try Self.tidyIfCancelled(notification, in: database) }
        }
    }

    /// Releases one shard. The caller has to end the lease.
    static func release(_ notification: Int64, _ shard: Int64, _ fence: Int64, in database: any SQLConnection) throws {
        let sql = "UPDATE shard SET lease = NULL WHERE notification = ? AND number = ? AND lease = ?"
        guard try database.run(sql: sql, notification, shard, fence) > 0 else { return }
        try Self.tidyIfCancelled(notification, in: database)
    }

    /// Deletes the shard of a cancelled notification, which was kept only for its page in flight.
    private static func tidyIfCancelled(_ notification: Int64, in database: any SQLConnection) throws {
        let sql = "SELECT 1 FROM notification WHERE number = ? AND state = 'cancelled'"
        if try database.hasRow(sql: sql, notification) { try NotificationCompletion.tidy(notification, in: database) }
    }

    /// Ends a lease, unless another shard is claimed under it. Shards claimed at acceptance may share a lease.
    static func end(_ fence: Int64, in database: any SQLConnection) throws {
        let sql = "DELETE FROM lease WHERE fence = ?1 AND NOT EXISTS (SELECT 1 FROM shard WHERE lease = ?1)"
        try database.run(sql: sql, fence)
    }

    static func freeRetries(_ fence: Int64, in database: any SQLConnection) throws {
        try Self.free("retry", fence, in: database)
    }

    private static func free(_ table: String, _ fence: Int64, in database: any SQLConnection) throws {
        try database.run(sql: "UPDATE \(table) SET lease = NULL WHERE lease = ?", fence)
    }
}
