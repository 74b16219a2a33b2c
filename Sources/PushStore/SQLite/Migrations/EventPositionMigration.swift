import GRDB

/// Migration 10: blocks of events have positions, which are given by the delivery and not by their writer.
enum EventPositionMigration {
    static let identifier = "10 event positions"

    static func run(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE app ADD COLUMN eventPosition INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE eventBlock ADD COLUMN position INTEGER;
                UPDATE eventBlock SET position = id;
                UPDATE app SET eventPosition = coalesce(
                    (SELECT seq FROM sqlite_sequence WHERE name = 'eventBlock'), 0);
                CREATE UNIQUE INDEX eventBlockByPosition ON eventBlock (app, position) WHERE position IS NOT NULL;
                CREATE INDEX eventBlockToPlace ON eventBlock (app, id) WHERE position IS NULL;
                """
        )
    }
}
