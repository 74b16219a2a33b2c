/// The positions of event blocks, in whose order the blocks are sent to an app's webhooks.
///
/// Writers do not assign positions. With several writers, a block with a lower position could be committed after a
/// webhook has passed that position. Instead, the delivery assigns positions to the blocks that it finds.
enum EventPositions {
    /// The maximum number of blocks to which one transaction assigns positions.
    private static let maximumCount = 1000

    /// Returns whether some blocks of the app have no position yet.
    static func areMissing(app: Int64, in database: any SQLConnection) throws -> Bool {
        let sql = "SELECT 1 FROM eventBlock INDEXED BY eventBlockToPlace WHERE app = ? AND position IS NULL LIMIT 1"
        return try database.hasRow(sql: sql, app)
    }

    /// Assigns positions to the app's oldest blocks that have none.
    static func give(app: Int64, in database: any SQLConnection) throws {
        try database.lock(.exclusive, "app", "id", [app])
        let sql = """
            SELECT id FROM eventBlock INDEXED BY eventBlockToPlace WHERE app = ? AND position IS NULL ORDER BY id LIMIT ?
            """
        let ids = try database.integers(sql: sql, [app, Self.maximumCount])
        var last = try Self.last(app: app, in: database)
        for id in ids {
            last += 1
            try database.run(sql: "UPDATE eventBlock SET position = ? WHERE id = ?", last, id)
        }
        try database.run(sql: "UPDATE app SET eventPosition = ? WHERE id = ?", last, app)
    }

    static func giveAll(app: Int64, in database: any SQLConnection) throws {
        while try Self.areMissing(app: app, in: database) { try Self.give(app: app, in: database) }
    }

    static func last(app: Int64, in database: any SQLConnection) throws -> Int64 {
        try database.integer(sql: "SELECT eventPosition FROM app WHERE id = ?", [app]) ?? 0
    }
}
