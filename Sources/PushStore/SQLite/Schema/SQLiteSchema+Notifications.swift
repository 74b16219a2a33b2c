extension SQLiteSchema {
    /// Notifications with their shards, the leases under which these are sent, and schedules.
    static let notifications = """
        CREATE TABLE notification (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, prefix INTEGER NOT NULL UNIQUE,
            app INTEGER NOT NULL REFERENCES app (id), state TEXT NOT NULL, lane INTEGER NOT NULL,
            guarantee TEXT NOT NULL, audience TEXT NOT NULL, isNarrow INTEGER NOT NULL DEFAULT 0,
            environment INTEGER, topic TEXT NOT NULL, pushType TEXT NOT NULL, priority INTEGER NOT NULL,
            expiration TEXT, collapseID TEXT, payload BLOB NOT NULL, isTemplate INTEGER NOT NULL,
            delivery BLOB, pace BLOB, schedule TEXT, runAt INTEGER,
            createdAt INTEGER NOT NULL, startsAt INTEGER NOT NULL, startedAt INTEGER, lastPageAt INTEGER,
            nextPageAt INTEGER NOT NULL DEFAULT 0, finishedAt INTEGER, pauseReason TEXT,
            waveStartedAt INTEGER, sentInWave INTEGER NOT NULL DEFAULT 0,
            recipients INTEGER NOT NULL DEFAULT 0, accepted INTEGER NOT NULL DEFAULT 0,
            rejected INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0,
            idempotencyKey TEXT, fingerprint BLOB,
            -- 1 once some of its deliveries have been deleted.
            isForgotten INTEGER NOT NULL DEFAULT 0,
            skipped INTEGER NOT NULL DEFAULT 0,
            -- The registration clock at its opening; NULL before that.
            openedAfter INTEGER
        ) STRICT;
        CREATE UNIQUE INDEX notificationByKey ON notification (app, idempotencyKey) WHERE idempotencyKey IS NOT NULL;
        CREATE UNIQUE INDEX notificationByRun ON notification (schedule, runAt) WHERE schedule IS NOT NULL;
        CREATE INDEX notificationByApp ON notification (app, number);
        CREATE INDEX notificationInBulk ON notification (app) WHERE lane = 1;
        CREATE INDEX notificationToOpen ON notification (startsAt) WHERE state = 'scheduled';
        CREATE INDEX notificationUnfinished ON notification (state) WHERE finishedAt IS NULL;
        CREATE INDEX notificationFinished ON notification (finishedAt) WHERE finishedAt IS NOT NULL;
        CREATE INDEX notificationWatching ON notification (app, openedAfter)
            WHERE finishedAt IS NULL AND openedAfter IS NOT NULL;
        CREATE INDEX notificationWatchingBulk ON notification (app, openedAfter)
            WHERE lane = 1 AND finishedAt IS NULL AND openedAfter IS NOT NULL;
        CREATE TABLE shard (
            notification INTEGER NOT NULL REFERENCES notification (number) ON DELETE CASCADE,
            number INTEGER NOT NULL, lane INTEGER NOT NULL, zoneKind INTEGER NOT NULL, zone TEXT,
            cursor INTEGER NOT NULL, upTo INTEGER NOT NULL, notBefore INTEGER NOT NULL,
            isDone INTEGER NOT NULL DEFAULT 0, lease INTEGER,
            -- The counters stand beside the cursor that they belong to, and go to the notification at its end.
            accepted INTEGER NOT NULL DEFAULT 0, rejected INTEGER NOT NULL DEFAULT 0,
            failed INTEGER NOT NULL DEFAULT 0, skipped INTEGER NOT NULL DEFAULT 0, lastPageAt INTEGER,
            PRIMARY KEY (notification, number)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX shardToWalk ON shard (lane, notBefore) WHERE isDone = 0;
        CREATE INDEX shardByLease ON shard (lease) WHERE lease IS NOT NULL;
        -- The tokens that a notification names.
        CREATE TABLE target (
            notification INTEGER NOT NULL REFERENCES notification (number) ON DELETE CASCADE,
            position INTEGER NOT NULL, token BLOB NOT NULL, environment INTEGER NOT NULL,
            PRIMARY KEY (notification, position)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX targetByToken ON target (token);
        -- The processes that take leases.
        CREATE TABLE node (id INTEGER PRIMARY KEY AUTOINCREMENT, startedAt INTEGER NOT NULL) STRICT;
        -- AUTOINCREMENT: a fencing number rises with every claim and is never used again.
        CREATE TABLE lease (
            fence INTEGER PRIMARY KEY AUTOINCREMENT, owner INTEGER NOT NULL, until INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE schedule (
            id TEXT PRIMARY KEY, app INTEGER NOT NULL REFERENCES app (id), name TEXT NOT NULL, request BLOB NOT NULL,
            rule BLOB NOT NULL, nextRunAt INTEGER, lastRunAt INTEGER, isPaused INTEGER NOT NULL,
            createdAt INTEGER NOT NULL, version INTEGER NOT NULL DEFAULT 0,
            -- The order in which schedules are listed.
            number INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX scheduleToRun ON schedule (nextRunAt) WHERE isPaused = 0 AND nextRunAt IS NOT NULL;
        CREATE INDEX scheduleByApp ON schedule (app, number);
        """
}
