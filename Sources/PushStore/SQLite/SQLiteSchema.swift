import GRDB

/// The numbered migrations of the provider's database; they run at start.
enum SQLiteSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 apps, devices, keys") { database in
            try database.execute(
                sql: """
                    CREATE TABLE app (
                        id INTEGER PRIMARY KEY, bundleID TEXT NOT NULL UNIQUE, name TEXT, createdAt INTEGER NOT NULL
                    ) STRICT;
                    CREATE TABLE credential (
                        app INTEGER NOT NULL REFERENCES app (id), environment TEXT NOT NULL, teamID TEXT NOT NULL,
                        keyID TEXT NOT NULL, sealedKey BLOB NOT NULL,
                        PRIMARY KEY (app, environment)
                    ) STRICT;
                    -- AUTOINCREMENT: an id is never used again, so that what was sent to one device is never held against another.
                    CREATE TABLE device (
                        id INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL REFERENCES app (id), environment TEXT NOT NULL,
                        token BLOB NOT NULL, user TEXT, locale TEXT, timeZone TEXT, isActive INTEGER NOT NULL,
                        registeredAt INTEGER NOT NULL, suspicions INTEGER NOT NULL,
                        UNIQUE (app, token, environment)
                    ) STRICT;
                    CREATE INDEX deviceByApp ON device (app, id);
                    CREATE INDEX deviceByUser ON device (app, user, id) WHERE user IS NOT NULL;
                    CREATE TABLE deviceTag (
                        app INTEGER NOT NULL, tag TEXT NOT NULL,
                        device INTEGER NOT NULL REFERENCES device (id) ON DELETE CASCADE,
                        PRIMARY KEY (app, tag, device)
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX tagByDevice ON deviceTag (device);
                    CREATE TABLE apiKey (
                        id TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, name TEXT NOT NULL, scopes TEXT NOT NULL,
                        createdAt INTEGER NOT NULL
                    ) STRICT;
                    """
            )
        }
        migrator.registerMigration("2 notifications") { database in
            try database.execute(
                sql: """
                    CREATE TABLE notification (
                        id TEXT PRIMARY KEY, app INTEGER NOT NULL REFERENCES app (id), audience TEXT NOT NULL,
                        audienceValue TEXT, environment TEXT, topic TEXT NOT NULL, pushType TEXT NOT NULL,
                        priority INTEGER NOT NULL, expiration TEXT, collapseID TEXT, payload BLOB NOT NULL,
                        createdAt INTEGER NOT NULL, finishedAt INTEGER, state TEXT NOT NULL,
                        isWalked INTEGER NOT NULL DEFAULT 0, cursor INTEGER NOT NULL DEFAULT 0,
                        leaseUntil INTEGER, lastPageAt INTEGER, idempotencyKey TEXT, fingerprint BLOB,
                        accepted INTEGER NOT NULL DEFAULT 0, rejected INTEGER NOT NULL DEFAULT 0,
                        failed INTEGER NOT NULL DEFAULT 0
                    ) STRICT;
                    CREATE UNIQUE INDEX notificationByKey ON notification (app, idempotencyKey)
                        WHERE idempotencyKey IS NOT NULL;
                    CREATE INDEX notificationToWalk ON notification (createdAt) WHERE isWalked = 0;
                    CREATE TABLE target (
                        notification TEXT NOT NULL REFERENCES notification (id), position INTEGER NOT NULL,
                        token BLOB NOT NULL, environment TEXT NOT NULL,
                        PRIMARY KEY (notification, position)
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE delivery (
                        notification TEXT NOT NULL REFERENCES notification (id), recipient INTEGER NOT NULL,
                        device INTEGER, token BLOB NOT NULL, environment TEXT NOT NULL, state TEXT NOT NULL,
                        apnsID TEXT NOT NULL, reason TEXT, attempts INTEGER NOT NULL, at INTEGER NOT NULL,
                        PRIMARY KEY (notification, recipient)
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE retry (
                        notification TEXT NOT NULL REFERENCES notification (id), recipient INTEGER NOT NULL,
                        device INTEGER, token BLOB NOT NULL, environment TEXT NOT NULL, registeredAt INTEGER,
                        attempts INTEGER NOT NULL, dueAt INTEGER NOT NULL,
                        PRIMARY KEY (notification, recipient)
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX retryByTime ON retry (dueAt);
                    """
            )
        }
        migrator.registerMigration(CampaignMigration.identifier, migrate: CampaignMigration.run)
        migrator.registerMigration(RetryByAppMigration.identifier, migrate: RetryByAppMigration.run)
        migrator.registerMigration(LeaseMigration.identifier, migrate: LeaseMigration.run)
        migrator.registerMigration(AuditCountMigration.identifier, migrate: AuditCountMigration.run)
        migrator.registerMigration(
            ConditionalChangesMigration.identifier,
            migrate: ConditionalChangesMigration.run
        )
        migrator.registerMigration(TimeMigration.identifier, migrate: TimeMigration.run)
        migrator.registerMigration(RecipientMigration.identifier, migrate: RecipientMigration.run)
        migrator.registerMigration(EventPositionMigration.identifier, migrate: EventPositionMigration.run)
        migrator.registerMigration(TokenMemoryMigration.identifier, migrate: TokenMemoryMigration.run)
        return migrator
    }
}
