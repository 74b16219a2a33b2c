import Foundation
import GRDB

/// Migration 3: devices with profiles, notifications in shards, what hygiene, schedules and webhooks need.
///
/// Environments become numbers, notifications get one besides their id, deliveries lose the copy of the token: a million
/// of them then take 20 MB instead of 150.
enum CampaignMigration {
    static let identifier = "3 campaigns"

    static func run(_ database: Database) throws {
        for table in ["credential", "device", "deviceTag", "notification", "target", "delivery", "retry"] {
            try database.execute(sql: "ALTER TABLE \(table) RENAME TO old_\(table)")
        }
        for index in [
            "deviceByApp", "deviceByUser", "tagByDevice", "notificationByKey", "notificationToWalk", "retryByTime",
        ] {
            try database.execute(sql: "DROP INDEX \(index)")
        }
        try database.execute(sql: Self.devices)
        try database.execute(sql: Self.notifications)
        try database.execute(sql: Self.ledger)
        try database.execute(sql: Self.services)
        try database.execute(sql: Self.conversion)
        try Self.setPrefixes(database)
        for table in ["credential", "deviceTag", "device", "target", "delivery", "retry", "notification"] {
            try database.execute(sql: "DROP TABLE old_\(table)")
        }
    }

    /// What the `apns-id`s of deliveries begin with, which SQL cannot compute.
    private static func setPrefixes(_ database: Database) throws {
        for text in try String.fetchAll(database, sql: "SELECT id FROM notification") {
            guard let id = UUID(uuidString: text) else { continue }
            try database.execute(
                sql: "UPDATE notification SET prefix = ? WHERE id = ?",
                arguments: [DeliveryPrefix(of: id).bits, text]
            )
        }
    }

    private static let devices = """
        ALTER TABLE app ADD COLUMN rate INTEGER;
        CREATE TABLE credential (
            app INTEGER NOT NULL REFERENCES app (id), environment INTEGER NOT NULL, kind TEXT NOT NULL,
            teamID TEXT, keyID TEXT, sealed BLOB NOT NULL,
            PRIMARY KEY (app, environment)
        ) STRICT;
        -- AUTOINCREMENT: an id is never used again, so that what was sent to one device is never held against another.
        CREATE TABLE device (
            id INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL REFERENCES app (id),
            environment INTEGER NOT NULL, token BLOB NOT NULL, isActive INTEGER NOT NULL,
            createdAt INTEGER NOT NULL, registeredAt INTEGER NOT NULL, suspicions INTEGER NOT NULL,
            user TEXT, locale TEXT COLLATE NOCASE, timeZone TEXT, appVersion TEXT, versionNumber INTEGER, installation TEXT,
            capabilities INTEGER NOT NULL DEFAULT 0, attributes TEXT
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
        """

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
            -- Whether some of its deliveries are gone already.
            isForgotten INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE UNIQUE INDEX notificationByKey ON notification (app, idempotencyKey) WHERE idempotencyKey IS NOT NULL;
        CREATE UNIQUE INDEX notificationByRun ON notification (schedule, runAt) WHERE schedule IS NOT NULL;
        CREATE INDEX notificationByApp ON notification (app, number);
        CREATE INDEX notificationInBulk ON notification (app) WHERE lane = 1;
        CREATE INDEX notificationToOpen ON notification (startsAt) WHERE state = 'scheduled';
        CREATE INDEX notificationUnfinished ON notification (state) WHERE finishedAt IS NULL;
        CREATE INDEX notificationFinished ON notification (finishedAt) WHERE finishedAt IS NOT NULL;
        CREATE TABLE shard (
            notification INTEGER NOT NULL REFERENCES notification (number) ON DELETE CASCADE,
            number INTEGER NOT NULL, lane INTEGER NOT NULL, zoneKind INTEGER NOT NULL, zone TEXT,
            cursor INTEGER NOT NULL, upTo INTEGER NOT NULL, notBefore INTEGER NOT NULL, leaseUntil INTEGER,
            isDone INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (notification, number)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX shardToWalk ON shard (lane, notBefore) WHERE isDone = 0;
        CREATE TABLE target (
            notification INTEGER NOT NULL REFERENCES notification (number) ON DELETE CASCADE,
            position INTEGER NOT NULL, token BLOB NOT NULL, environment INTEGER NOT NULL,
            PRIMARY KEY (notification, position)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX targetByToken ON target (token);
        """

    private static let ledger = """
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
            dueAt INTEGER NOT NULL, isLeased INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (notification, recipient)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX retryByTime ON retry (lane, dueAt);
        CREATE TABLE badge (
            app INTEGER NOT NULL, holder TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (app, holder)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE badgeStep (
            notification INTEGER NOT NULL REFERENCES notification (number) ON DELETE CASCADE,
            holder TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (notification, holder)
        ) STRICT, WITHOUT ROWID;
        """

    private static let services = """
        CREATE TABLE health (
            app INTEGER NOT NULL, environment INTEGER NOT NULL, breakerOpenSince INTEGER, breakerReason TEXT,
            PRIMARY KEY (app, environment)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE tokenEvent (
            id INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL, device INTEGER NOT NULL, token BLOB NOT NULL,
            environment INTEGER NOT NULL, action TEXT NOT NULL, reason TEXT, notification TEXT, at INTEGER NOT NULL,
            since INTEGER
        ) STRICT;
        CREATE INDEX tokenEventByApp ON tokenEvent (app, id);
        CREATE INDEX tokenEventByToken ON tokenEvent (token);
        CREATE INDEX tokenEventByAction ON tokenEvent (action, app, environment);
        CREATE TABLE schedule (
            id TEXT PRIMARY KEY, app INTEGER NOT NULL REFERENCES app (id), name TEXT NOT NULL, request BLOB NOT NULL,
            rule BLOB NOT NULL, nextRunAt INTEGER, lastRunAt INTEGER, isPaused INTEGER NOT NULL,
            createdAt INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX scheduleToRun ON schedule (nextRunAt) WHERE isPaused = 0 AND nextRunAt IS NOT NULL;
        CREATE TABLE webhook (
            id TEXT PRIMARY KEY, app INTEGER NOT NULL REFERENCES app (id), url TEXT NOT NULL, sealed BLOB NOT NULL,
            events TEXT NOT NULL, isActive INTEGER NOT NULL, createdAt INTEGER NOT NULL, cursor INTEGER NOT NULL,
            failures INTEGER NOT NULL, nextTryAt INTEGER, lastError TEXT, lastSuccessAt INTEGER
        ) STRICT;
        CREATE TABLE eventBlock (
            id INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL,
            events BLOB NOT NULL, firstToken INTEGER, lastToken INTEGER
        ) STRICT;
        CREATE INDEX eventBlockByApp ON eventBlock (app, id);
        CREATE TABLE audit (
            id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, key TEXT, keyName TEXT NOT NULL,
            action TEXT NOT NULL, status INTEGER NOT NULL
        ) STRICT;
        """

    /// What the first versions had. Their deliveries keep their state; notifications that were not finished begin again
    /// at their cursor.
    private static let conversion = """
        INSERT INTO credential (app, environment, kind, teamID, keyID, sealed)
            SELECT app, environment = 'sandbox', 'key', teamID, keyID, sealedKey FROM old_credential;
        INSERT INTO device (id, app, environment, token, isActive, createdAt, registeredAt, suspicions, user, locale,
                timeZone)
            SELECT id, app, environment = 'sandbox', token, isActive, registeredAt, registeredAt, suspicions, user,
                replace(locale, '_', '-'), timeZone FROM old_device;
        INSERT INTO deviceTag (app, tag, device) SELECT app, tag, device FROM old_deviceTag;
        INSERT INTO notification (id, prefix, app, state, lane, guarantee, audience, environment, topic, pushType,
                priority, expiration, collapseID, payload, isTemplate, createdAt, startsAt, startedAt, lastPageAt,
                finishedAt, accepted, rejected, failed, idempotencyKey, fingerprint)
            SELECT id, rowid, app, state, audience NOT IN ('user', 'tokens'), 'atLeastOnce',
                CASE audience WHEN 'tokens' THEN '{"tokens":true}' WHEN 'all' THEN '{"all":true}'
                    ELSE json_object(audience, audienceValue) END,
                CASE environment WHEN 'sandbox' THEN 1 WHEN 'production' THEN 0 END, topic, pushType, priority,
                expiration, collapseID, payload, 0, createdAt, createdAt, lastPageAt, lastPageAt, finishedAt, accepted,
                rejected, failed, idempotencyKey, fingerprint
            FROM old_notification ORDER BY createdAt;
        INSERT INTO shard (notification, number, lane, zoneKind, cursor, upTo, notBefore)
            SELECT notification.number, 0, lane, 0, cursor, CASE old_notification.audience
                WHEN 'tokens' THEN (SELECT count(*) FROM old_target WHERE old_target.notification = id)
                ELSE (SELECT coalesce(max(device.id), 0) FROM device) END, 0
            FROM old_notification JOIN notification USING (id) WHERE isWalked = 0;
        INSERT INTO target (notification, position, token, environment)
            SELECT number, position, token, old_target.environment = 'sandbox'
            FROM old_target JOIN notification ON notification.id = old_target.notification;
        INSERT OR IGNORE INTO reason (text) SELECT DISTINCT reason FROM old_delivery WHERE reason IS NOT NULL;
        INSERT INTO delivery (notification, recipient, state, attempts, at, reason, device)
            SELECT number, recipient, CASE old_delivery.state WHEN 'accepted' THEN 1 WHEN 'rejected' THEN 2 ELSE 3 END,
                attempts, at, reason.id, CASE lane WHEN 0 THEN device END
            FROM old_delivery JOIN notification ON notification.id = old_delivery.notification
            LEFT JOIN reason ON reason.text = old_delivery.reason;
        INSERT INTO retry (notification, recipient, lane, attempts, dueAt)
            SELECT number, recipient, lane, attempts, dueAt
            FROM old_retry JOIN notification ON notification.id = old_retry.notification;
        """
}
