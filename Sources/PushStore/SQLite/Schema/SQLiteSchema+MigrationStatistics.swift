extension SQLiteSchema {
    /// Migration 16: indexes for lists, the counters of charts, and the switch that stops an app (docs/decisions/0040).
    static let statistics = """
        CREATE INDEX notificationByAppAndName ON notification (app, name, number) WHERE name IS NOT NULL;
        -- A push to one device is not sorted by its recipients, and costs no entry.
        CREATE INDEX notificationByRecipients ON notification (app, recipients, number) WHERE recipients > 1;
        CREATE INDEX notificationCancelled ON notification (app, number) WHERE state = 'cancelled';
        CREATE INDEX notificationByTime ON notification (createdAt);
        CREATE INDEX deviceInactive ON device (app, id) WHERE isActive = 0;
        -- Those that are not being sent to, and not accepted.
        CREATE INDEX deliveryUnsuccessful ON delivery (notification, state, recipient) WHERE state > 1;
        -- at: the beginning of the interval in seconds since 1970; step: its length in seconds.
        -- latency0 to latency9: the numbers of pushes whose response came within the bounds of LatencyHistogram.
        CREATE TABLE statistic (
            app INTEGER NOT NULL, at INTEGER NOT NULL, step INTEGER NOT NULL,
            accepted INTEGER NOT NULL DEFAULT 0, rejected INTEGER NOT NULL DEFAULT 0,
            failed INTEGER NOT NULL DEFAULT 0, skipped INTEGER NOT NULL DEFAULT 0, unknown INTEGER NOT NULL DEFAULT 0,
            opened INTEGER NOT NULL DEFAULT 0,
            latency0 INTEGER NOT NULL DEFAULT 0, latency1 INTEGER NOT NULL DEFAULT 0,
            latency2 INTEGER NOT NULL DEFAULT 0, latency3 INTEGER NOT NULL DEFAULT 0,
            latency4 INTEGER NOT NULL DEFAULT 0, latency5 INTEGER NOT NULL DEFAULT 0,
            latency6 INTEGER NOT NULL DEFAULT 0, latency7 INTEGER NOT NULL DEFAULT 0,
            latency8 INTEGER NOT NULL DEFAULT 0, latency9 INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (app, at, step)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX statisticByAge ON statistic (step, at);
        -- What was not accepted, by its reason.
        CREATE TABLE statisticReason (
            app INTEGER NOT NULL, at INTEGER NOT NULL, step INTEGER NOT NULL, state INTEGER NOT NULL,
            reason INTEGER NOT NULL, count INTEGER NOT NULL,
            PRIMARY KEY (app, at, step, state, reason)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX statisticReasonByAge ON statisticReason (step, at);
        -- An app that is stopped: nothing of it is sent until it is resumed.
        CREATE TABLE appStop (
            app INTEGER PRIMARY KEY REFERENCES app (id) ON DELETE CASCADE, since INTEGER NOT NULL, reason TEXT,
            key TEXT, keyName TEXT
        ) STRICT;
        -- What went wrong with the latest runs of a schedule, and when; NULL after a run that was made.
        ALTER TABLE schedule ADD COLUMN problem TEXT;
        ALTER TABLE schedule ADD COLUMN problemAt INTEGER;
        """
}
