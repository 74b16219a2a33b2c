/// The tables of the provider's database, and the numbered migrations that create them.
///
/// Version 0.1.0 begins with one migration. Each later change is a new migration. Released migrations never change.
/// Each file contains the statements of some of them.
enum SQLSchema {
    /// The statements of the first migration, which create the tables of version 0.1.0.
    static let initial = [
        Self.apps, Self.devices, Self.notifications, Self.deliveries, Self.events, Self.administration,
    ]

    /// The tables of apps with their credentials, and of the state of each environment.
    ///
    /// An environment is stored as 0 for production and 1 for sandbox, a time as milliseconds since 1970.
    private static let apps = """
        CREATE TABLE app (
            id INTEGER PRIMARY KEY, bundleID TEXT NOT NULL UNIQUE, name TEXT, createdAt INTEGER NOT NULL,
            -- Pushes per second.
            rate INTEGER,
            -- The highest position that a block of events of the app has.
            eventPosition INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE credential (
            app INTEGER NOT NULL REFERENCES app (id), environment INTEGER NOT NULL, kind TEXT NOT NULL,
            teamID TEXT, keyID TEXT, sealed BLOB NOT NULL,
            PRIMARY KEY (app, environment)
        ) STRICT;
        CREATE TABLE health (
            app INTEGER NOT NULL, environment INTEGER NOT NULL, breakerOpenSince INTEGER, breakerReason TEXT,
            -- The time of the first push that was accepted with the credential.
            provenAt INTEGER,
            PRIMARY KEY (app, environment)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE providerToken (
            teamID TEXT NOT NULL, keyID TEXT NOT NULL, fingerprint TEXT NOT NULL, sealed BLOB NOT NULL,
            issuedAt INTEGER NOT NULL, isRefused INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (teamID, keyID, fingerprint)
        ) STRICT, WITHOUT ROWID;
        -- A known text, sealed: it tells a wrong master key from a damaged row.
        CREATE TABLE masterKeyMark (id INTEGER PRIMARY KEY CHECK (id = 1), sealed BLOB NOT NULL) STRICT;
        """

    /// The tables of devices, and of records that identify a recipient over changes (docs/decisions/0018).
    private static let devices = """
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

    /// The tables of notifications with their shards, of the leases under which these are sent, and of schedules.
    private static let notifications = """
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

    /// The tables of the ledger, with the states of recipients and the recipients that wait for another attempt.
    private static let deliveries = """
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

    /// The tables of the history of tokens, of the webhooks, and of the events for them.
    private static let events = """
        CREATE TABLE tokenEvent (
            id INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL, device INTEGER NOT NULL, token BLOB NOT NULL,
            environment INTEGER NOT NULL, action TEXT NOT NULL, reason TEXT, notification TEXT, at INTEGER NOT NULL,
            since INTEGER
        ) STRICT;
        CREATE INDEX tokenEventByApp ON tokenEvent (app, id);
        CREATE INDEX tokenEventByToken ON tokenEvent (token);
        CREATE INDEX tokenEventByAction ON tokenEvent (action, app, environment);
        CREATE INDEX tokenEventByTime ON tokenEvent (at);
        CREATE TABLE webhook (
            id TEXT PRIMARY KEY, app INTEGER NOT NULL REFERENCES app (id), url TEXT NOT NULL, sealed BLOB NOT NULL,
            events TEXT NOT NULL, isActive INTEGER NOT NULL, createdAt INTEGER NOT NULL, cursor INTEGER NOT NULL,
            failures INTEGER NOT NULL, nextTryAt INTEGER, lastError TEXT, lastSuccessAt INTEGER,
            version INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE eventBlock (
            id INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL,
            events BLOB NOT NULL, firstToken INTEGER, lastToken INTEGER,
            -- Given by the delivery of events, not by the writer of the block.
            position INTEGER
        ) STRICT;
        CREATE INDEX eventBlockByApp ON eventBlock (app, id);
        CREATE INDEX eventBlockByTime ON eventBlock (at);
        CREATE UNIQUE INDEX eventBlockByPosition ON eventBlock (app, position) WHERE position IS NOT NULL;
        CREATE INDEX eventBlockToPlace ON eventBlock (app, id) WHERE position IS NULL;
        """

    /// The tables of API keys, of the audit log, and of the mark of the steady clock.
    private static let administration = """
        CREATE TABLE apiKey (
            id TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, name TEXT NOT NULL, scopes TEXT NOT NULL,
            createdAt INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE audit (
            id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, key TEXT, keyName TEXT NOT NULL,
            action TEXT NOT NULL, status INTEGER NOT NULL,
            -- Rejected requests that repeat are one entry.
            count INTEGER NOT NULL DEFAULT 1
        ) STRICT;
        CREATE INDEX auditByTime ON audit (at);
        CREATE TABLE clock (
            id INTEGER PRIMARY KEY CHECK (id = 1), steady INTEGER NOT NULL, claim INTEGER, agreed INTEGER NOT NULL
        ) STRICT;
        """
}
