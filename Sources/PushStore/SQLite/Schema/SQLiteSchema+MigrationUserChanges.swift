extension SQLiteSchema {
    /// Migration 33: the order of devices' changes of users and requests for erasures, so that an erasure leaves the devices that
    /// became the user's after its request (docs/decisions/0051).
    static let userChanges = """
        -- The registration clock when the device became its user's. NULL: before this migration.
        ALTER TABLE device ADD COLUMN userSince INTEGER;
        -- What is from before this migration is below all readings of the clock, in the order of the devices' ids.
        CREATE INDEX deviceByUserSince ON device (app, user, coalesce(userSince, id - (1 << 62)))
            WHERE user IS NOT NULL;
        -- The registration clock at the request: what came after it has a later number. Before this migration, its newest device.
        ALTER TABLE erasure ADD COLUMN lastChange INTEGER NOT NULL DEFAULT 0;
        UPDATE erasure SET lastChange = ifnull(lastDevice, 0) - (1 << 62);
        """
}
