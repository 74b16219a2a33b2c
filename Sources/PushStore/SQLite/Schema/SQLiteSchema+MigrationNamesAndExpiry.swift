extension SQLiteSchema {
    /// The names of notifications, their keys, their relative expiry, and the notification that another one repeats.
    static let namesAndExpiry = """
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
        """
}
