import GRDB

/// Migration 9: what keeps a recipient the same while devices leave, come back and hand their tokens on.
///
/// The clock counts changes of registrations. A notification knows where it stood when it was opened, so that what has
/// changed since is known without a look at any other clock.
enum RecipientMigration {
    static let identifier = "9 recipients"

    static func run(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE registrationClock (number INTEGER NOT NULL) STRICT;
                INSERT INTO registrationClock VALUES (0);
                -- hasLeft: deleted, and kept until no notification that was opened before needs it.
                ALTER TABLE device ADD COLUMN hasLeft INTEGER NOT NULL DEFAULT 0;
                -- churn: the registration clock at the last change that a notification being sent has to know of.
                ALTER TABLE device ADD COLUMN churn INTEGER;
                -- twin: the earlier device with the same token in the other environment.
                ALTER TABLE device ADD COLUMN twin INTEGER;
                CREATE INDEX deviceChurned ON device (app, churn) WHERE churn IS NOT NULL;
                CREATE INDEX deviceLeft ON device (app, id) WHERE hasLeft = 1;
                CREATE INDEX deviceByTwin ON device (twin) WHERE twin IS NOT NULL;
                UPDATE device SET twin = other.id FROM device AS other
                    WHERE other.app = device.app AND other.token = device.token
                        AND other.environment != device.environment AND other.id < device.id;
                -- What the other one had of a notification, this one has had too.
                CREATE TABLE deviceLink (
                    device INTEGER NOT NULL REFERENCES device (id) ON DELETE CASCADE,
                    other INTEGER NOT NULL, since INTEGER NOT NULL,
                    -- Of what was accepted later it is not so; NULL: of all.
                    until INTEGER,
                    PRIMARY KEY (device, other)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE formerToken (
                    app INTEGER NOT NULL, token BLOB NOT NULL, environment INTEGER NOT NULL, device INTEGER NOT NULL,
                    since INTEGER NOT NULL, at INTEGER NOT NULL,
                    PRIMARY KEY (app, token, environment, device)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX formerTokenBySince ON formerToken (app, since);
                ALTER TABLE notification ADD COLUMN openedAfter INTEGER;
                UPDATE notification SET openedAfter = 0 WHERE finishedAt IS NULL
                    AND EXISTS (SELECT 1 FROM shard WHERE shard.notification = notification.number);
                CREATE INDEX notificationWatching ON notification (app, openedAfter)
                    WHERE finishedAt IS NULL AND openedAfter IS NOT NULL;
                -- What waits for the end of the walk.
                CREATE INDEX retryHeld ON retry (notification, recipient) WHERE dueAt = 9223372036854775807;
                """
        )
    }
}
