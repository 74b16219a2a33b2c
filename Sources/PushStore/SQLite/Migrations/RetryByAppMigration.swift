import GRDB

/// Migration 4: retries know their app, so that those of one whose push service does not answer stand in nobody's way.
enum RetryByAppMigration {
    static let identifier = "4 retries by app"

    static func run(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE retry ADD COLUMN app INTEGER NOT NULL DEFAULT 0;
                UPDATE retry SET app = (SELECT app FROM notification WHERE notification.number = retry.notification);
                CREATE INDEX retryByApp ON retry (lane, app, dueAt);
                """
        )
    }
}
