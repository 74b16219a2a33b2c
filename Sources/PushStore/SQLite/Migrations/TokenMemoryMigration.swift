import GRDB

/// Migration 11: what a token has had is known by the token, not by the time at which its device gave it up.
enum TokenMemoryMigration {
    static let identifier = "11 token memory"

    static func run(_ database: Database) throws {
        try database.execute(
            sql: """
                -- A token that was given up, a notification being sent that it has had, and the device by which it had it.
                CREATE TABLE tokenHad (
                    notification INTEGER NOT NULL REFERENCES notification (number) ON DELETE CASCADE,
                    token BLOB NOT NULL, device INTEGER NOT NULL,
                    PRIMARY KEY (notification, token)
                ) STRICT, WITHOUT ROWID;
                ALTER TABLE formerToken DROP COLUMN at;
                CREATE INDEX tokenHadByDevice ON tokenHad (notification, device);
                """
        )
    }
}
