import GRDB

/// Migration 11: what a token has had is known by the token, not by the time at which its device gave it up; and the
/// retries of a notification are found by their time.
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
                CREATE INDEX tokenHadByDevice ON tokenHad (notification, device);
                CREATE INDEX notificationWatchingBulk ON notification (app, openedAfter)
                    WHERE lane = 1 AND finishedAt IS NULL AND openedAfter IS NOT NULL;
                INSERT OR IGNORE INTO tokenHad (notification, token, device)
                    SELECT delivery.notification, formerToken.token, formerToken.device
                    FROM formerToken JOIN notification ON notification.app = formerToken.app
                        JOIN delivery ON delivery.notification = notification.number
                            AND delivery.recipient = formerToken.device
                    WHERE notification.finishedAt IS NULL AND notification.openedAfter IS NOT NULL
                        AND delivery.state IN (0, 1) AND delivery.at <= formerToken.at;
                ALTER TABLE formerToken DROP COLUMN at;
                -- countsAll: all that the other one had counts, and not only what its token had.
                ALTER TABLE deviceLink ADD COLUMN countsAll INTEGER NOT NULL DEFAULT 0;
                UPDATE deviceLink SET countsAll = until IS NULL;
                ALTER TABLE deviceLink DROP COLUMN until;
                DROP INDEX retryHeld;
                CREATE INDEX retryByDue ON retry (notification, dueAt);
                """
        )
    }
}
