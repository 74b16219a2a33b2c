import GRDB

/// The positions of blocks of events, in whose order an app's webhooks receive them.
///
/// Writers of blocks do not number them: with several of them, a block with a lower number could appear after a webhook
/// has passed it. The delivery gives positions to what it finds, in one transaction.
enum EventPositions {
    /// The most blocks that get their positions in one transaction.
    private static let maximumCount = 1000

    /// Returns `true` if blocks of the app have no positions yet.
    static func areMissing(app: Int64, in database: Database) throws -> Bool {
        let sql = "SELECT 1 FROM eventBlock INDEXED BY eventBlockToPlace WHERE app = ? AND position IS NULL LIMIT 1"
        return try database.hasRow(sql: sql, app)
    }

    /// Gives positions to the app's oldest blocks that have none.
    static func give(app: Int64, in database: Database) throws {
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

    /// Gives positions to all blocks of the app.
    static func giveAll(app: Int64, in database: Database) throws {
        while try Self.areMissing(app: app, in: database) { try Self.give(app: app, in: database) }
    }

    /// Returns the highest position of a block of the app.
    static func last(app: Int64, in database: Database) throws -> Int64 {
        try database.integer(sql: "SELECT eventPosition FROM app WHERE id = ?", [app]) ?? 0
    }
}
