extension SQLiteSchema {
    /// The ledger: the states of recipients, and those that are tried again.
    static let deliveries = """
        CREATE TABLE reason (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
        -- device: in the urgent lane, and of tokens that were named; elsewhere the recipient is the device.
        -- No reference to the notification: it would be looked up for each of a million rows.
        CREATE TABLE delivery (
            notification INTEGER NOT NULL,
            recipient INTEGER NOT NULL, state INTEGER NOT NULL, attempts INTEGER NOT NULL, at INTEGER NOT NULL,
            reason INTEGER, device INTEGER,
            PRIMARY KEY (notification, recipient)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX deliveryByDevice ON delivery (device) WHERE device IS NOT NULL;
        CREATE INDEX deliveryBegun ON delivery (notification) WHERE state = 0;
        CREATE TABLE retry (
            notification INTEGER NOT NULL REFERENCES notification (number) ON DELETE CASCADE,
            recipient INTEGER NOT NULL, environment INTEGER, lane INTEGER NOT NULL, attempts INTEGER NOT NULL,
            dueAt INTEGER NOT NULL,
            -- The notification's: retries of an app whose push service does not respond delay no others.
            app INTEGER NOT NULL DEFAULT 0,
            lease INTEGER,
            PRIMARY KEY (notification, recipient)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX retryByTime ON retry (lane, dueAt) WHERE lease IS NULL;
        CREATE INDEX retryByApp ON retry (lane, app, dueAt) WHERE lease IS NULL;
        CREATE INDEX retryByLease ON retry (lease) WHERE lease IS NOT NULL;
        CREATE INDEX retryByDue ON retry (notification, dueAt);
        -- The badge counts that a notification shows.
        CREATE TABLE badgeStep (
            notification INTEGER NOT NULL REFERENCES notification (number) ON DELETE CASCADE,
            holder TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (notification, holder)
        ) STRICT, WITHOUT ROWID;
        -- A token that was given up, a notification in progress that it has had, and the device by which it had it.
        CREATE TABLE tokenHad (
            notification INTEGER NOT NULL REFERENCES notification (number) ON DELETE CASCADE,
            token BLOB NOT NULL, device INTEGER NOT NULL,
            PRIMARY KEY (notification, token)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX tokenHadByDevice ON tokenHad (notification, device);
        """
}
