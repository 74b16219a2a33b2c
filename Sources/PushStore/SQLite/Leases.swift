import GRDB
import PushTypes

/// The leases under which shards and retries are sent.
///
/// A lease is known by its fencing number, which rises with every claim. What is written under a lease that has been
/// given to another owner since is refused.
enum Leases {
    /// Gives out a lease.
    /// - Returns: its fencing number.
    static func take(owner: Int64, until: Timestamp, in database: Database) throws -> Int64 {
        let statement = try RawStatement("INSERT INTO lease (owner, until) VALUES (?, ?)", in: database)
        statement.bind(owner, at: 1)
        statement.bind(until.milliseconds, at: 2)
        try statement.run()
        return database.lastInsertedRowID
    }

    static func isHeld(_ fence: Int64, by owner: Int64, in database: Database) throws -> Bool {
        let statement = try RawStatement("SELECT 1 FROM lease WHERE fence = ? AND owner = ?", in: database)
        defer { statement.reset() }
        statement.bind(fence, at: 1)
        statement.bind(owner, at: 2)
        return try statement.step()
    }

    static func extend(_ fence: Int64, until: Timestamp, in database: Database) throws {
        let statement = try RawStatement("UPDATE lease SET until = ? WHERE fence = ?", in: database)
        statement.bind(until.milliseconds, at: 1)
        statement.bind(fence, at: 2)
        try statement.run()
    }

    /// The leases that nobody works under any more.
    ///
    /// A lease of the caller's own is lost when the caller does not hold it, whatever its time; another owner's when its
    /// time has ended.
    static func lost(
        owner: Int64,
        held: ClaimFilter.Held?,
        now: Timestamp,
        in database: Database
    ) throws -> [Int64] {
        let statement = try RawStatement("SELECT fence, owner, until FROM lease", in: database)
        defer { statement.reset() }
        var lost: [Int64] = []
        while try statement.step() {
            let fence = statement.integer(0)
            let isLost =
                if let held, statement.integer(1) == owner {
                    fence <= held.upTo && !held.fences.contains(fence)
                } else {
                    statement.integer(2) <= now.milliseconds
                }
            if isLost { lost.append(fence) }
        }
        return lost
    }

    /// Ends leases and gives back what they hold.
    static func release(_ fences: [Int64], in database: Database) throws {
        for fence in fences {
            let walked = try Int64.fetchAll(
                database.cachedStatement(sql: "SELECT notification FROM shard WHERE lease = ?"),
                arguments: [fence]
            )
            try Self.free("shard", fence, in: database)
            try Self.free("retry", fence, in: database)
            try Self.end(fence, in: database)
            for notification in walked { try Self.tidyIfCancelled(notification, in: database) }
        }
    }

    /// The page of a cancelled notification that was in flight kept its shard until now.
    private static func tidyIfCancelled(_ notification: Int64, in database: Database) throws {
        let sql = "SELECT state FROM notification WHERE number = ?"
        let state = try String.fetchOne(database.cachedStatement(sql: sql), arguments: [notification])
        if state == NotificationRecord.State.cancelled.rawValue { try Completion.tidy(notification, in: database) }
    }

    /// Ends a lease that holds nothing any more.
    static func end(_ fence: Int64, in database: Database) throws {
        let statement = try RawStatement("DELETE FROM lease WHERE fence = ?", in: database)
        statement.bind(fence, at: 1)
        try statement.run()
    }

    /// Gives back the retries that a lease still holds.
    static func freeRetries(_ fence: Int64, in database: Database) throws {
        try Self.free("retry", fence, in: database)
    }

    private static func free(_ table: String, _ fence: Int64, in database: Database) throws {
        let statement = try RawStatement("UPDATE \(table) SET lease = NULL WHERE lease = ?", in: database)
        statement.bind(fence, at: 1)
        try statement.run()
    }
}
