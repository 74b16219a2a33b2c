extension SQLiteSchema {
    /// Migration 33: the order of devices' changes of users and requests for erasures, so that an erasure leaves the devices that
    /// became the user's after its request (docs/decisions/0051).
    static let userChanges = """
        -- The registration clock when the device became its user's. NULL: before this migration.
        ALTER TABLE device ADD COLUMN userSince INTEGER;
        -- The registration clock at the request: what came after it has a later number.
        ALTER TABLE erasure ADD COLUMN lastChange INTEGER NOT NULL DEFAULT 0;
        -- What comes after this migration is later than the requests for the erasures that are under way.
        UPDATE registrationClock SET number = number + 1;
        """
}
