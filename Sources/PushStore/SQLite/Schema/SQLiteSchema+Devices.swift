extension SQLiteSchema {
    /// Devices with their profiles, and what keeps a recipient the same (docs/decisions/0018).
    static let devices = """
        -- AUTOINCREMENT: an id is never used again, so that what was sent to one device never counts for another.
        CREATE TABLE device (
            id INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL REFERENCES app (id),
            environment INTEGER NOT NULL, token BLOB NOT NULL, isActive INTEGER NOT NULL,
            createdAt INTEGER NOT NULL, registeredAt INTEGER NOT NULL, suspicions INTEGER NOT NULL,
            user TEXT, locale TEXT COLLATE NOCASE, timeZone TEXT, appVersion TEXT, versionNumber INTEGER,
            installation TEXT, capabilities INTEGER NOT NULL DEFAULT 0, attributes TEXT,
            -- 0: registered. Not 0: deleted, and kept until no notification that was opened before needs it;
            -- 1 if it was active until then, 2 if not.
            hasLeft INTEGER NOT NULL DEFAULT 0,
            -- The registration clock at the last change that a notification in progress has to know of.
            churn INTEGER,
            -- The earlier device with the same token in the other environment.
            twin INTEGER
        ) STRICT;
        CREATE UNIQUE INDEX deviceByToken ON device (app, token, environment);
        CREATE INDEX deviceByApp ON device (app, id);
        CREATE INDEX deviceByUser ON device (app, user) WHERE user IS NOT NULL;
        CREATE UNIQUE INDEX deviceByInstallation ON device (app, installation, environment)
            WHERE installation IS NOT NULL;
        CREATE INDEX deviceByLocale ON device (app, locale) WHERE locale IS NOT NULL;
        CREATE INDEX deviceByTimeZone ON device (app, timeZone, isActive);
        CREATE INDEX deviceByVersion ON device (app, versionNumber) WHERE versionNumber IS NOT NULL;
        CREATE INDEX deviceByLastSeen ON device (app, registeredAt);
        CREATE INDEX deviceChurned ON device (app, churn) WHERE churn IS NOT NULL;
        CREATE INDEX deviceLeft ON device (app, id) WHERE hasLeft = 1;
        CREATE INDEX deviceByTwin ON device (twin) WHERE twin IS NOT NULL;
        CREATE TABLE deviceTag (
            app INTEGER NOT NULL, tag TEXT NOT NULL,
            device INTEGER NOT NULL REFERENCES device (id) ON DELETE CASCADE,
            PRIMARY KEY (app, tag, device)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX tagByDevice ON deviceTag (device);
        -- The values of device.attributes, to be searched.
        CREATE TABLE deviceAttribute (
            app INTEGER NOT NULL, name TEXT NOT NULL, value ANY NOT NULL,
            device INTEGER NOT NULL REFERENCES device (id) ON DELETE CASCADE,
            PRIMARY KEY (app, name, value, device)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX attributeByDevice ON deviceAttribute (device, app, name, value);
        -- One row: the number of changes of registrations. A notification keeps the number at its opening, so that
        -- what has changed since is known without a look at any other clock.
        CREATE TABLE registrationClock (number INTEGER NOT NULL) STRICT;
        INSERT INTO registrationClock VALUES (0);
        -- What the other device had of a notification, this one has had too: everything, or only by its token.
        CREATE TABLE deviceLink (
            device INTEGER NOT NULL REFERENCES device (id) ON DELETE CASCADE,
            other INTEGER NOT NULL, since INTEGER NOT NULL, countsAll INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (device, other)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE formerToken (
            app INTEGER NOT NULL, token BLOB NOT NULL, environment INTEGER NOT NULL, device INTEGER NOT NULL,
            since INTEGER NOT NULL,
            PRIMARY KEY (app, token, environment, device)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX formerTokenBySince ON formerToken (app, since);
        CREATE TABLE badge (
            app INTEGER NOT NULL, holder TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (app, holder)
        ) STRICT, WITHOUT ROWID;
        """
}
