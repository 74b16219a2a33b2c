BEGIN TRANSACTION;
CREATE TABLE apiKey (
    id TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, name TEXT NOT NULL, scopes TEXT NOT NULL,
    createdAt INTEGER NOT NULL
) STRICT;
INSERT INTO "apiKey" VALUES('4B65A7CF-67D3-476A-8D99-3F3C14CD682D',X'F04CDDF71EF092865459881DF82D6B192456E049F961C2868D50D89BE6FF30F3','first admin key','admin',1795360663623);
CREATE TABLE app (
    id INTEGER PRIMARY KEY, bundleID TEXT NOT NULL UNIQUE, name TEXT, createdAt INTEGER NOT NULL,
    -- Pushes per second.
    rate INTEGER,
    -- The highest position that a block of events of the app has.
    eventPosition INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO "app" VALUES(1,'com.example.Old','Old',1795360666452,NULL,0);
CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, key TEXT, keyName TEXT NOT NULL,
    action TEXT NOT NULL, status INTEGER NOT NULL,
    -- Rejected requests that repeat are one entry.
    count INTEGER NOT NULL DEFAULT 1
) STRICT;
INSERT INTO "audit" VALUES(1,1795360666456,'4B65A7CF-67D3-476A-8D99-3F3C14CD682D','first admin key','POST /v1/apps',201,1);
INSERT INTO "audit" VALUES(2,1795360666516,'4B65A7CF-67D3-476A-8D99-3F3C14CD682D','first admin key','PUT /v1/apps/com.example.Old/credentials/sandbox',200,1);
INSERT INTO "audit" VALUES(3,1795360666643,'4B65A7CF-67D3-476A-8D99-3F3C14CD682D','first admin key','POST /v1/apps/com.example.Old/webhooks',201,1);
INSERT INTO "audit" VALUES(4,1795360666695,'4B65A7CF-67D3-476A-8D99-3F3C14CD682D','first admin key','POST /v1/apps/com.example.Old/schedules',201,1);
CREATE TABLE badge (
    app INTEGER NOT NULL, holder TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (app, holder)
) STRICT, WITHOUT ROWID;
CREATE TABLE badgeStep (
    notification INTEGER NOT NULL REFERENCES notification (number) ON DELETE CASCADE,
    holder TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (notification, holder)
) STRICT, WITHOUT ROWID;
CREATE TABLE clock (
    id INTEGER PRIMARY KEY CHECK (id = 1), steady INTEGER NOT NULL, claim INTEGER, agreed INTEGER NOT NULL
) STRICT;
INSERT INTO "clock" VALUES(1,1795360663587,NULL,0);
CREATE TABLE credential (
    app INTEGER NOT NULL REFERENCES app (id), environment INTEGER NOT NULL, kind TEXT NOT NULL,
    teamID TEXT, keyID TEXT, sealed BLOB NOT NULL,
    PRIMARY KEY (app, environment)
) STRICT;
INSERT INTO "credential" VALUES(1,1,'key','DEF123GHIJ','OLDKEY0001',X'E1CEB99945C56D8065FB11423866A84F35DAD83357C92A744C46B436D3AA70D818182BA9A9EF8548C3DF3989043891C8FC16DD886D26B39BF09BF4C4C256A1F16A6D7A591B1FBCC76A84AB7E6E28E4EDB668782C04A388244D5D9E6F603FF9F57D23EE702FFF4FC1BAEBD037FFC4F8560A05E32D82975F690366EDD9F7AE8A8BCA1B8636714B11CDF7157C5CEC7463510E4C0EBC20D7D77CD35A1FE156EAD8EBFABB6675F935F5BD8FA3AC3E18F90B4B1D564BBF72AC6C0811B81210C86D19135E8C49165B92D3EC89B1C2F05984918D56B7FBE6EE805194D258D24AB635E5E12B7BF8C2828A54DE8D28DFBD537C7B5C1022514A067224278A564B04208286EF32B6BAD6FCA5B54512B09098DE');
CREATE TABLE delivery (
    notification INTEGER NOT NULL,
    recipient INTEGER NOT NULL, state INTEGER NOT NULL, attempts INTEGER NOT NULL, at INTEGER NOT NULL,
    reason INTEGER, device INTEGER,
    PRIMARY KEY (notification, recipient)
) STRICT, WITHOUT ROWID;
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
INSERT INTO "device" VALUES(1,1,1,X'00AA11BB22CC33DD44EE55FF66007788990011223344556677889900AABBCCDD',1,1795360666584,1795360666584,0,'alice',NULL,NULL,NULL,NULL,NULL,0,'{"plan":"gold"}',0,NULL,NULL);
CREATE TABLE deviceAttribute (
    app INTEGER NOT NULL, name TEXT NOT NULL, value ANY NOT NULL,
    device INTEGER NOT NULL REFERENCES device (id) ON DELETE CASCADE,
    PRIMARY KEY (app, name, value, device)
) STRICT, WITHOUT ROWID;
INSERT INTO "deviceAttribute" VALUES(1,'plan','gold',1);
CREATE TABLE deviceLink (
    device INTEGER NOT NULL REFERENCES device (id) ON DELETE CASCADE,
    other INTEGER NOT NULL, since INTEGER NOT NULL, countsAll INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (device, other)
) STRICT, WITHOUT ROWID;
CREATE TABLE deviceTag (
    app INTEGER NOT NULL, tag TEXT NOT NULL,
    device INTEGER NOT NULL REFERENCES device (id) ON DELETE CASCADE,
    PRIMARY KEY (app, tag, device)
) STRICT, WITHOUT ROWID;
INSERT INTO "deviceTag" VALUES(1,'beta',1);
CREATE TABLE eventBlock (
    id INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL,
    events BLOB NOT NULL, firstToken INTEGER, lastToken INTEGER,
    -- Given by the delivery of events, not by the writer of the block.
    position INTEGER
) STRICT;
CREATE TABLE formerToken (
    app INTEGER NOT NULL, token BLOB NOT NULL, environment INTEGER NOT NULL, device INTEGER NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (app, token, environment, device)
) STRICT, WITHOUT ROWID;
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO "grdb_migrations" VALUES('1 initial schema');
CREATE TABLE health (
    app INTEGER NOT NULL, environment INTEGER NOT NULL, breakerOpenSince INTEGER, breakerReason TEXT,
    -- The time of the first push that was accepted with the credential.
    provenAt INTEGER,
    PRIMARY KEY (app, environment)
) STRICT, WITHOUT ROWID;
CREATE TABLE lease (
    fence INTEGER PRIMARY KEY AUTOINCREMENT, owner INTEGER NOT NULL, until INTEGER NOT NULL
) STRICT;
CREATE TABLE masterKeyMark (id INTEGER PRIMARY KEY CHECK (id = 1), sealed BLOB NOT NULL) STRICT;
INSERT INTO "masterKeyMark" VALUES(1,X'6DCD07B6F298BC0B6044D3A20EDDB5DCD4DABF614EA0FAB7F375558B3063E1FCA42D54');
CREATE TABLE node (id INTEGER PRIMARY KEY AUTOINCREMENT, startedAt INTEGER NOT NULL) STRICT;
INSERT INTO "node" VALUES(2,1795360663000);
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
CREATE TABLE providerToken (
    teamID TEXT NOT NULL, keyID TEXT NOT NULL, fingerprint TEXT NOT NULL, sealed BLOB NOT NULL,
    issuedAt INTEGER NOT NULL, isRefused INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (teamID, keyID, fingerprint)
) STRICT, WITHOUT ROWID;
CREATE TABLE reason (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE registrationClock (number INTEGER NOT NULL) STRICT;
INSERT INTO "registrationClock" VALUES(0);
CREATE TABLE retry (
    notification INTEGER NOT NULL REFERENCES notification (number) ON DELETE CASCADE,
    recipient INTEGER NOT NULL, environment INTEGER, lane INTEGER NOT NULL, attempts INTEGER NOT NULL,
    dueAt INTEGER NOT NULL,
    -- The notification's: retries of an app whose push service does not respond delay no others.
    app INTEGER NOT NULL DEFAULT 0,
    lease INTEGER,
    PRIMARY KEY (notification, recipient)
) STRICT, WITHOUT ROWID;
CREATE TABLE schedule (
    id TEXT PRIMARY KEY, app INTEGER NOT NULL REFERENCES app (id), name TEXT NOT NULL, request BLOB NOT NULL,
    rule BLOB NOT NULL, nextRunAt INTEGER, lastRunAt INTEGER, isPaused INTEGER NOT NULL,
    createdAt INTEGER NOT NULL, version INTEGER NOT NULL DEFAULT 0,
    -- The order in which schedules are listed.
    number INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO "schedule" VALUES('8804ACA6-F28D-47CE-B1B3-65B3C8B233BA',1,'digest',X'7B22616C657274223A7B22626F6479223A225765656B6C79222C227469746C65223A22446967657374227D2C22746F223A7B22746167223A2262657461227D7D',X'7B2263726F6E223A2230203920312031202A222C226D6178696D756D4C6174656E6573735365636F6E6473223A333630302C226D697373656452756E73223A2272756E4F6E6365222C2274696D655A6F6E65223A224575726F70652F4265726C696E227D',1798790400000,NULL,0,1795360666687,0,1);
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
CREATE TABLE target (
    notification INTEGER NOT NULL REFERENCES notification (number) ON DELETE CASCADE,
    position INTEGER NOT NULL, token BLOB NOT NULL, environment INTEGER NOT NULL,
    PRIMARY KEY (notification, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE tokenEvent (
    id INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL, device INTEGER NOT NULL, token BLOB NOT NULL,
    environment INTEGER NOT NULL, action TEXT NOT NULL, reason TEXT, notification TEXT, at INTEGER NOT NULL,
    since INTEGER
) STRICT;
CREATE TABLE tokenHad (
    notification INTEGER NOT NULL REFERENCES notification (number) ON DELETE CASCADE,
    token BLOB NOT NULL, device INTEGER NOT NULL,
    PRIMARY KEY (notification, token)
) STRICT, WITHOUT ROWID;
CREATE TABLE webhook (
    id TEXT PRIMARY KEY, app INTEGER NOT NULL REFERENCES app (id), url TEXT NOT NULL, sealed BLOB NOT NULL,
    events TEXT NOT NULL, isActive INTEGER NOT NULL, createdAt INTEGER NOT NULL, cursor INTEGER NOT NULL,
    failures INTEGER NOT NULL, nextTryAt INTEGER, lastError TEXT, lastSuccessAt INTEGER,
    version INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO "webhook" VALUES('887B20BA-66ED-4774-B37A-CF601FE101E5',1,'https://example.com:443/hook',X'EA066724CF2F8AF124F3043308AD6B2E3F265996FF7200092CB797DFEA9213AEADD60678A1BBDC85F8D350C1A450477575091C609C9BBDC17E5FA47DE76B4FC6816597376F149C658C1812185F','delivery token',1,1795360666635,0,0,NULL,NULL,NULL,0);
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
CREATE INDEX tagByDevice ON deviceTag (device);
CREATE INDEX attributeByDevice ON deviceAttribute (device, app, name, value);
CREATE INDEX formerTokenBySince ON formerToken (app, since);
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
CREATE INDEX shardToWalk ON shard (lane, notBefore) WHERE isDone = 0;
CREATE INDEX shardByLease ON shard (lease) WHERE lease IS NOT NULL;
CREATE INDEX targetByToken ON target (token);
CREATE INDEX scheduleToRun ON schedule (nextRunAt) WHERE isPaused = 0 AND nextRunAt IS NOT NULL;
CREATE INDEX scheduleByApp ON schedule (app, number);
CREATE INDEX deliveryByDevice ON delivery (device) WHERE device IS NOT NULL;
CREATE INDEX deliveryBegun ON delivery (notification) WHERE state = 0;
CREATE INDEX retryByTime ON retry (lane, dueAt) WHERE lease IS NULL;
CREATE INDEX retryByApp ON retry (lane, app, dueAt) WHERE lease IS NULL;
CREATE INDEX retryByLease ON retry (lease) WHERE lease IS NOT NULL;
CREATE INDEX retryByDue ON retry (notification, dueAt);
CREATE INDEX tokenHadByDevice ON tokenHad (notification, device);
CREATE INDEX tokenEventByApp ON tokenEvent (app, id);
CREATE INDEX tokenEventByToken ON tokenEvent (token);
CREATE INDEX tokenEventByAction ON tokenEvent (action, app, environment);
CREATE INDEX tokenEventByTime ON tokenEvent (at);
CREATE INDEX eventBlockByApp ON eventBlock (app, id);
CREATE INDEX eventBlockByTime ON eventBlock (at);
CREATE UNIQUE INDEX eventBlockByPosition ON eventBlock (app, position) WHERE position IS NOT NULL;
CREATE INDEX eventBlockToPlace ON eventBlock (app, id) WHERE position IS NULL;
CREATE INDEX auditByTime ON audit (at);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('node',2);
INSERT INTO "sqlite_sequence" VALUES('audit',4);
INSERT INTO "sqlite_sequence" VALUES('device',1);
COMMIT;