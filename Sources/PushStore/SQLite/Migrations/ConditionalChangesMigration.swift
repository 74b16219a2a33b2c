import GRDB

/// Migration 7: webhooks and schedules have versions, schedules have numbers to be listed by, provider tokens are kept, and
/// the master key leaves a mark that it is known by.
enum ConditionalChangesMigration {
    static let identifier = "7 conditional changes"

    static func run(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE webhook ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE schedule ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE schedule ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
                UPDATE schedule SET number = numbered.number
                    FROM (SELECT id, row_number() OVER (ORDER BY createdAt, id) AS number FROM schedule) AS numbered
                    WHERE schedule.id = numbered.id;
                CREATE INDEX scheduleByApp ON schedule (app, number);
                CREATE TABLE providerToken (
                    teamID TEXT NOT NULL, keyID TEXT NOT NULL, fingerprint TEXT NOT NULL, sealed BLOB NOT NULL,
                    issuedAt INTEGER NOT NULL, isRefused INTEGER NOT NULL DEFAULT 0,
                    PRIMARY KEY (teamID, keyID, fingerprint)
                ) STRICT, WITHOUT ROWID;
                -- A known text, sealed: by it a master key that does not fit is told from a row that is damaged.
                CREATE TABLE masterKeyMark (id INTEGER PRIMARY KEY CHECK (id = 1), sealed BLOB NOT NULL) STRICT;
                """
        )
    }
}
