extension SQLiteSchema {
    /// Migration 9: opt-outs, quiet hours and encryption keys (docs/decisions/0033).
    static let preferences = """
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
        """
}
