extension SQLiteSchema {
    /// Migration 20: browsers' subscriptions, and the addresses at which others reach an app (docs/decisions/0045).
    static let webPush = """
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
        """
}
