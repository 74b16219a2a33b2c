extension SQLSchema {
    /// The statements of migrations 2 to 9, keyed by the migrations' names.
    static let from2: KeyValuePairs = [
        // The kinds of tokens (docs/decisions/0021).
        //
        // A stored device is of the kind alert (0), until a registration or an accepted push proves another kind of its
        // token. A notification that was accepted before there were kinds has none, and is sent to devices of any kind.
        "2 token kinds": """
        ALTER TABLE device ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;
        -- The app's id of the Live Activity to which the token belongs; empty for other kinds.
        ALTER TABLE device ADD COLUMN activity TEXT NOT NULL DEFAULT '';
        ALTER TABLE notification ADD COLUMN tokenKind INTEGER;
        UPDATE notification SET tokenKind = 0 WHERE finishedAt IS NULL AND pushType IN ('alert', 'background', 'mdm');
        -- The latest million recipients tell, so that a large ledger does not take long. A device that has had several
        -- tokens tells nothing.
        UPDATE device SET kind = proven.kind FROM (
            SELECT iif(recipient > 0, recipient, device) AS device, kind, max(number) FROM (
                SELECT number, sum(accepted) OVER (ORDER BY number DESC) AS total, CASE pushType
                    WHEN 'voip' THEN 1 WHEN 'complication' THEN 2 WHEN 'fileprovider' THEN 3 WHEN 'location' THEN 4
                    WHEN 'pushtotalk' THEN 5 WHEN 'widgets' THEN 8 WHEN 'controls' THEN 9
                    ELSE iif(instr(CAST(payload AS TEXT), '"event":"start"'), 6, 7) END AS kind
                FROM notification WHERE pushType NOT IN ('alert', 'background', 'mdm') AND accepted > 0
            ) JOIN delivery ON delivery.notification = number AND delivery.state = 1
            WHERE total <= 1000000
                AND iif(recipient > 0, recipient, device) NOT IN (
                    SELECT device FROM tokenEvent WHERE action = 'replaced')
            GROUP BY 1
        ) AS proven WHERE device.id = proven.device;
        DROP INDEX deviceByInstallation;
        CREATE UNIQUE INDEX deviceByInstallation ON device (app, installation, environment, kind, activity)
            WHERE installation IS NOT NULL;
        DROP INDEX deviceByTimeZone;
        CREATE INDEX deviceByTimeZone ON device (app, timeZone, isActive, kind);
        CREATE INDEX deviceByKind ON device (app, kind, isActive) WHERE kind != 0;
        CREATE INDEX deviceByActivity ON device (app, activity) WHERE activity != '';
        """,
        // The pauses of environments, and the work that is held back by them (docs/decisions/0022).
        "3 environment pauses": """
        CREATE TABLE environmentState (
            app INTEGER NOT NULL REFERENCES app (id) ON DELETE CASCADE, environment INTEGER NOT NULL,
            -- Rises with each change of the credential: proofs against an earlier one do not count.
            epoch INTEGER NOT NULL DEFAULT 0,
            -- NULL while the environment is not paused.
            pausedSince INTEGER, cause TEXT, detail TEXT, host TEXT, port INTEGER, proofs INTEGER,
            PRIMARY KEY (app, environment)
        ) STRICT, WITHOUT ROWID;
        -- The environment whose pause holds the row back, 2 for all of the app. It is due when the notification expires.
        ALTER TABLE retry ADD COLUMN heldFor INTEGER;
        CREATE INDEX retryHeld ON retry (app, heldFor) WHERE heldFor IS NOT NULL;
        ALTER TABLE shard ADD COLUMN heldApp INTEGER;
        ALTER TABLE shard ADD COLUMN heldFor INTEGER;
        CREATE INDEX shardHeld ON shard (heldApp, heldFor) WHERE heldFor IS NOT NULL;
        """,
        // The names of notifications, the API keys that sent them, their relative expiry, and the notifications that
        // they resend.
        "4 names and expiry": """
        ALTER TABLE notification ADD COLUMN name TEXT;
        -- Seconds after the start of a recipient; NULL where the expiration is named.
        ALTER TABLE notification ADD COLUMN expiresIn INTEGER;
        -- The API key of the request, and its name at that time.
        ALTER TABLE notification ADD COLUMN key TEXT;
        ALTER TABLE notification ADD COLUMN keyName TEXT;
        -- The notification whose failed recipients this one is sent to.
        ALTER TABLE notification ADD COLUMN resendOf TEXT;
        ALTER TABLE schedule ADD COLUMN key TEXT;
        ALTER TABLE schedule ADD COLUMN keyName TEXT;
        CREATE INDEX notificationByName ON notification (name, number) WHERE name IS NOT NULL;
        CREATE INDEX notificationByOriginal ON notification (resendOf) WHERE resendOf IS NOT NULL;
        """,
        // API keys that expire, are limited to an app and have a rate; the secrets with which back ends sign for users;
        // and the erasures in progress (docs/decisions/0024).
        "5 keys per app": """
        -- Bundle ids with spaces between them; NULL for all apps.
        ALTER TABLE apiKey ADD COLUMN apps TEXT;
        ALTER TABLE apiKey ADD COLUMN expiresAt INTEGER;
        -- Requests per second; NULL for the server's own.
        ALTER TABLE apiKey ADD COLUMN rate INTEGER;
        ALTER TABLE apiKey ADD COLUMN lastUsedAt INTEGER;
        -- The id of what the request made.
        ALTER TABLE audit ADD COLUMN resource TEXT;
        CREATE TABLE userSecret (
            id TEXT PRIMARY KEY, app INTEGER NOT NULL REFERENCES app (id), sealed BLOB NOT NULL,
            createdAt INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX userSecretByApp ON userSecret (app);
        -- Not 0: the app is being erased, and for every request it does not exist.
        ALTER TABLE app ADD COLUMN isErased INTEGER NOT NULL DEFAULT 0;
        -- The ids of apps are not used again, so that what is kept for one in memory never counts for another.
        CREATE TABLE lastApp (id INTEGER NOT NULL) STRICT;
        INSERT INTO lastApp SELECT coalesce(max(id), 0) FROM app;
        -- What is being erased: a user of an app, or with NULL the whole app. The name of the user and the tokens of
        -- the user's devices go with the last row of theirs, and then only the file remains to be overwritten.
        CREATE TABLE erasure (
            id INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL, user TEXT, tokens TEXT,
            requestedAt INTEGER NOT NULL, isEmptied INTEGER NOT NULL DEFAULT 0,
            -- The newest device and notification at the request: what a user gets after it stays.
            lastDevice INTEGER, lastNotification INTEGER
        ) STRICT;
        CREATE UNIQUE INDEX erasureBySubject ON erasure (app, ifnull(user, '')) WHERE isEmptied = 0;
        """,
        // The announcements of certificates that are about to expire (docs/decisions/0026).
        "6 announcements": """
        -- The most days that were left when the end was announced last; NULL before the first announcement.
        ALTER TABLE credential ADD COLUMN announcedStage INTEGER;
        """,
        // The final state of pushes that were sent and whose response was lost. Recipients with an earlier final state
        // keep it.
        "7 unknown": """
        ALTER TABLE notification ADD COLUMN unknown INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE shard ADD COLUMN unknown INTEGER NOT NULL DEFAULT 0;
        -- 1 once the response to a try was lost.
        ALTER TABLE retry ADD COLUMN mayHaveArrived INTEGER NOT NULL DEFAULT 0;
        """,
        // The receipts of apps and of the gateway (docs/decisions/0031).
        "8 receipts": """
        -- What apps may tell of what became of a notification: 0 nothing, 1 counts only, 2 each device.
        ALTER TABLE app ADD COLUMN receipts INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE notification ADD COLUMN receipts INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX notificationWithReceipts ON notification (app, finishedAt) WHERE receipts = 2;
        -- subject: a device; below zero a token that was named and has no device, or the keyed hash of an installation
        -- and this notification, where only counts are kept. Its times are rounded.
        -- No reference to the notification, as in the ledger of deliveries.
        CREATE TABLE receipt (
            notification INTEGER NOT NULL, subject INTEGER NOT NULL, event INTEGER NOT NULL,
            -- 64 bits of a hash of the receipt's own id.
            id INTEGER NOT NULL,
            action TEXT, source INTEGER NOT NULL, at INTEGER NOT NULL, receivedAt INTEGER NOT NULL,
            PRIMARY KEY (notification, subject, event, id)
        ) STRICT, WITHOUT ROWID;
        -- The sums of the rows above, written with them. The action is empty for all receipts of an event.
        CREATE TABLE receiptCount (
            notification INTEGER NOT NULL, event INTEGER NOT NULL, action TEXT NOT NULL,
            uniqueCount INTEGER NOT NULL, total INTEGER NOT NULL,
            PRIMARY KEY (notification, event, action)
        ) STRICT, WITHOUT ROWID;
        -- How far the events of a gateway have been read.
        CREATE TABLE gatewayCursor (address TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT;
        """,
        // Opt-outs, quiet hours and encryption keys (docs/decisions/0033).
        "9 preferences": """
        -- Consent categories with a line end before and after each; NULL for none.
        ALTER TABLE device ADD COLUMN optOuts TEXT;
        -- Two times of day on the device's clock, such as 22:00-07:00.
        ALTER TABLE device ADD COLUMN quietHours TEXT;
        -- The public key for encrypted content, X25519, and its name.
        ALTER TABLE device ADD COLUMN encryptionKeyID TEXT;
        ALTER TABLE device ADD COLUMN encryptionKey BLOB;
        -- One entry tells a notification that its recipients must be checked. 4 is the capability alert.
        CREATE INDEX deviceWithQuietHours ON device (app) WHERE quietHours IS NOT NULL;
        CREATE INDEX deviceWithoutAlerts ON device (app) WHERE capabilities != 0 AND capabilities & 4 = 0;
        CREATE TABLE userPreference (
            app INTEGER NOT NULL, user TEXT NOT NULL, optOuts TEXT, quietHours TEXT, PRIMARY KEY (app, user)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX userWithQuietHours ON userPreference (app) WHERE quietHours IS NOT NULL;
        -- The names that installations may write, one a line.
        ALTER TABLE app ADD COLUMN installationTags TEXT;
        ALTER TABLE app ADD COLUMN installationAttributes TEXT;
        -- The most notifications of a user in a window of so many seconds.
        ALTER TABLE app ADD COLUMN capCount INTEGER;
        ALTER TABLE app ADD COLUMN capWindow INTEGER;
        ALTER TABLE notification ADD COLUMN consentCategory TEXT;
        ALTER TABLE notification ADD COLUMN ignoresQuietHours INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE notification ADD COLUMN ignoresCap INTEGER NOT NULL DEFAULT 0;
        -- The alert that stands in for encrypted content; NULL if it is not encrypted.
        ALTER TABLE notification ADD COLUMN placeholder BLOB;
        -- What counts towards the cap: a notification for a user, or for a device without one, by the steady clock.
        CREATE TABLE capUse (
            app INTEGER NOT NULL, holder TEXT NOT NULL, notification INTEGER NOT NULL, at INTEGER NOT NULL,
            PRIMARY KEY (app, holder, notification)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX capUseByTime ON capUse (app, at);
        """,
    ]
}
