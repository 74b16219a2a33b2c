extension SQLSchema {
    /// The statements of migrations 17 to 28, keyed by the migrations' names.
    static let from17: KeyValuePairs = [
        // The subscriptions that entitle to a publication's issues.
        "17 subscriptions": """
        -- Product ids, one a line; NULL for none.
        ALTER TABLE publication ADD COLUMN subscriptionProducts TEXT;
        """,
        // Bridges to other systems, and the origin of notifications (docs/decisions/0042).
        "18 bridges": """
        CREATE TABLE bridge (
            kind TEXT NOT NULL, name TEXT NOT NULL, app INTEGER NOT NULL REFERENCES app (id),
            -- NULL is the environment of each device.
            environment INTEGER, settings TEXT NOT NULL,
            -- NULL without a secret.
            sealed BLOB, revision TEXT NOT NULL, changedAt INTEGER NOT NULL,
            PRIMARY KEY (kind, name)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX bridgeOfApp ON bridge (app, kind, name);
        -- The kind of bridge and its name, such as "matrix com.example.MyApp.ios.prod"; NULL for requests of the API.
        ALTER TABLE notification ADD COLUMN origin TEXT;
        """,
        // Nodes of push components (docs/decisions/0043).
        "19 XMPP nodes": """
        CREATE TABLE xmppNode (
            id INTEGER PRIMARY KEY, node TEXT NOT NULL UNIQUE, app INTEGER NOT NULL REFERENCES app (id),
            component TEXT NOT NULL, secretHash BLOB NOT NULL,
            -- One of both is not NULL.
            installation TEXT, user TEXT,
            domain TEXT NOT NULL, account TEXT, createdAt INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX xmppNodeOfApp ON xmppNode (app);
        CREATE INDEX xmppNodeOfInstallation ON xmppNode (app, installation, createdAt) WHERE installation IS NOT NULL;
        CREATE INDEX xmppNodeOfUser ON xmppNode (app, user, createdAt) WHERE user IS NOT NULL;
        """,
        // Browsers' subscriptions, and the addresses at which other servers reach an app (docs/decisions/0045).
        "20 web push": """
        CREATE TABLE vapidKey (
            id TEXT PRIMARY KEY, app INTEGER NOT NULL REFERENCES app (id), publicKey BLOB NOT NULL,
            sealed BLOB NOT NULL, contact TEXT NOT NULL, createdAt INTEGER NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX vapidKeyOfApp ON vapidKey (app, publicKey);
        -- The URL and the keys of a device of the kind web, whose token is the hash of the URL.
        CREATE TABLE webSubscription (
            app INTEGER NOT NULL REFERENCES app (id), token BLOB NOT NULL, sealed BLOB NOT NULL,
            -- NULL is the app's newest key.
            vapidKey TEXT,
            PRIMARY KEY (app, token)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX webSubscriptionByKey ON webSubscription (vapidKey);
        -- A subscription is a secret: nothing of it stays when its device leaves, whatever the way.
        CREATE TRIGGER subscriptionLeaves AFTER UPDATE OF token, kind, hasLeft ON device
            WHEN OLD.kind = 10 AND (NEW.token != OLD.token OR NEW.kind != 10 OR NEW.hasLeft != 0)
        BEGIN
            DELETE FROM webSubscription WHERE app = OLD.app AND token = OLD.token;
        END;
        CREATE TRIGGER subscriptionGoes AFTER DELETE ON device WHEN OLD.kind = 10
        BEGIN
            DELETE FROM webSubscription WHERE app = OLD.app AND token = OLD.token;
        END;
        CREATE TABLE pushResource (
            id TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, app INTEGER NOT NULL REFERENCES app (id),
            installation TEXT NOT NULL, name TEXT NOT NULL, vapidKey BLOB,
            -- The URL at which its sender is told of its end; NULL for none.
            sealed BLOB, createdAt INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX pushResourceOfInstallation ON pushResource (app, installation);
        CREATE TABLE pushMessage (
            id TEXT PRIMARY KEY, app INTEGER NOT NULL REFERENCES app (id),
            resource TEXT NOT NULL REFERENCES pushResource (id) ON DELETE CASCADE,
            tokenHash BLOB NOT NULL, topic TEXT, body BLOB NOT NULL, expiresAt INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX pushMessageOfResource ON pushMessage (resource, expiresAt);
        CREATE INDEX pushMessageByExpiry ON pushMessage (expiresAt);
        """,
        // Sessions that the provider maintains at chat servers on behalf of users (docs/decisions/0044).
        "21 chat sessions": """
        CREATE TABLE chatSession (
            number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, app INTEGER NOT NULL REFERENCES app (id),
            user TEXT NOT NULL, protocol TEXT NOT NULL, host TEXT NOT NULL, port INTEGER NOT NULL, account TEXT NOT NULL,
            -- The password.
            sealed BLOB NOT NULL, settings TEXT NOT NULL, state TEXT NOT NULL, lastError TEXT,
            seenThrough INTEGER NOT NULL, revision TEXT NOT NULL, createdAt INTEGER NOT NULL, changedAt INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX chatSessionOfApp ON chatSession (app, user, number);
        """,
        // The legacy protocols, in both directions (docs/decisions/0047).
        "22 legacy": """
        -- 'http2' or 'binary'.
        ALTER TABLE credential ADD COLUMN transport TEXT NOT NULL DEFAULT 'http2';
        -- The last reading of a feedback service. nextAt is of the steady clock, the other times of the wall clock.
        CREATE TABLE feedbackRun (
            app INTEGER NOT NULL REFERENCES app (id), environment INTEGER NOT NULL,
            nextAt INTEGER NOT NULL, startedAt INTEGER NOT NULL,
            -- NULL while it is being read, and after a crash.
            endedAt INTEGER,
            tokens INTEGER NOT NULL DEFAULT 0, deactivated INTEGER NOT NULL DEFAULT 0, kept INTEGER NOT NULL DEFAULT 0,
            withheld INTEGER NOT NULL DEFAULT 0, unknown INTEGER NOT NULL DEFAULT 0,
            -- The failures in a row, and the error of the last one.
            failures INTEGER NOT NULL DEFAULT 0, error TEXT,
            PRIMARY KEY (app, environment)
        ) STRICT, WITHOUT ROWID;
        -- Tokens of pushes of old providers that the push service has called invalid, until those know it.
        CREATE TABLE legacyToken (
            app INTEGER NOT NULL REFERENCES app (id), environment INTEGER NOT NULL, token BLOB NOT NULL,
            -- The time from which the push service calls it invalid.
            since INTEGER NOT NULL,
            -- It is in the feedback list, and its next push gets status 8.
            isListed INTEGER NOT NULL, isRefused INTEGER NOT NULL, addedAt INTEGER NOT NULL,
            PRIMARY KEY (app, environment, token)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX legacyTokenByAge ON legacyToken (addedAt);
        """,
        // Broadcast channels (docs/decisions/0048).
        "23 channels": """
        CREATE TABLE channel (
            app INTEGER NOT NULL REFERENCES app (id), environment INTEGER NOT NULL, id TEXT NOT NULL,
            -- 0 stores no broadcast, 1 the newest.
            storage INTEGER NOT NULL, name TEXT, createdAt INTEGER NOT NULL,
            -- NULL as long as it is there.
            deletedAt INTEGER,
            PRIMARY KEY (app, environment, id)
        ) STRICT, WITHOUT ROWID;
        """,
        // The comparison of the pushes that bridges in shadow mode would send with those of the old server
        // (docs/decisions/0046).
        "24 shadow": """
        CREATE TABLE shadow (
            kind TEXT NOT NULL, name TEXT NOT NULL, app INTEGER NOT NULL REFERENCES app (id),
            since INTEGER NOT NULL, requests INTEGER NOT NULL, agreements INTEGER NOT NULL,
            PRIMARY KEY (kind, name, app)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE shadowDifference (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL, name TEXT NOT NULL, app INTEGER NOT NULL REFERENCES app (id),
            at INTEGER NOT NULL, subject TEXT NOT NULL, field TEXT, ours TEXT NOT NULL, theirs TEXT NOT NULL
        ) STRICT;
        CREATE INDEX shadowDifferenceOfBridge ON shadowDifference (app, kind, name, number);
        """,
        // The sessions whose server has proven by SCRAM that it knows the password. The password is never sent to such
        // a server (docs/decisions/0044).
        "25 SCRAM": "ALTER TABLE chatSession ADD COLUMN usesSCRAM INTEGER NOT NULL DEFAULT 0",
        // The former users of devices, so that a delivery belongs to the user that the device had at its time.
        "26 device users": """
        -- A device was the user's up to this time, from that of its row before on. NULL: it had no user, or one who is erased.
        CREATE TABLE deviceUser (
            device INTEGER NOT NULL, until INTEGER NOT NULL, app INTEGER NOT NULL REFERENCES app (id), user TEXT,
            PRIMARY KEY (device, until)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX deviceUserByName ON deviceUser (app, user) WHERE user IS NOT NULL;
        CREATE INDEX deviceUserByTime ON deviceUser (until);
        """,
        // The time of the newest event that was read from a gateway. NULL means that it is unknown.
        "27 gateway cursor": "ALTER TABLE gatewayCursor ADD COLUMN at INTEGER",
        // The origin with which each Web Push address was issued. A sender's token must be for this origin
        // (docs/decisions/0045).
        "28 push resource origins": "ALTER TABLE pushResource ADD COLUMN origin TEXT",
    ]
}
