import GRDB

/// The positions of blocks of events, in whose order an app's webhooks receive them.
///
/// Writers of blocks do not number them: with several of them, a block with a lower number could appear after a webhook
/// has passed it. The delivery gives positions to what it finds, in one transaction.
enum EventPositions {
    /// The most blocks that get their positions in one transaction.
    private static let maximumCount = 1000

    /// Tells whether blocks of the app have no positions yet.
    static func areMissing(app: Int64, in database: Database) throws -> Bool {
        let sql = "SELECT 1 FROM eventBlock INDEXED BY eventBlockToPlace WHERE app = ? AND position IS NULL LIMIT 1"
        return try Row.fetchOne(database.cachedStatement(sql: sql), arguments: [app]) != nil
    }

    /// Gives positions to the app's oldest blocks that have none.
    static func give(app: Int64, in database: Database) throws {
        let sql = """
            SELECT id FROM eventBlock INDEXED BY eventBlockToPlace WHERE app = ? AND position IS NULL ORDER BY id LIMIT ?
            """
        let ids = try Int64.fetchAll(database.cachedStatement(sql: sql), arguments: [app, Self.maximumCount])
        let update = try database.cachedStatement(sql: "UPDATE eventBlock SET position = ? WHERE id = ?")
        let last = try Self.last(app: app, in: database)
        for (offset, id) in ids.enumerated() { try update.execute(arguments: [last + Int64(offset) + 1, id]) }
        try database.execute(
            sql: "UPDATE app SET eventPosition = ? WHERE id = ?",
            arguments: [last + Int64(ids.count), app]
        )
    }

    /// Gives positions to all blocks of the app.
    static func giveAll(app: Int64, in database: Database) throws {
        while try Self.areMissing(app: app, in: database) { try Self.give(app: app, in: database) }
    }

    /// Returns the highest position of a block of the app.
    static func last(app: Int64, in database: Database) throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT eventPosition FROM app WHERE id = ?", arguments: [app]) ?? 0
    }
}
