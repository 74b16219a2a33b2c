import GRDB

/// Migration 8: where the steady clock was, when each environment was proven, and what is old by its time.
///
/// The first mark is the latest moment that anything accepted has: a clock that is wrong at the first start after it
/// finds a mark already.
enum TimeMigration {
    static let identifier = "8 time"

    static func run(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE clock (
                    id INTEGER PRIMARY KEY CHECK (id = 1), steady INTEGER NOT NULL, claim INTEGER, agreed INTEGER NOT NULL
                ) STRICT;
                INSERT INTO clock (id, steady, agreed)
                    SELECT 1, latest, 0 FROM (
                        SELECT max(at) AS latest FROM (
                            SELECT max(createdAt) AS at FROM notification UNION ALL SELECT max(at) FROM audit
                            UNION ALL SELECT max(registeredAt) FROM device))
                    WHERE latest IS NOT NULL;
                ALTER TABLE health ADD COLUMN provenAt INTEGER;
                CREATE INDEX tokenEventByTime ON tokenEvent (at);
                CREATE INDEX eventBlockByTime ON eventBlock (at);
                CREATE INDEX auditByTime ON audit (at);
                """
        )
    }
}
