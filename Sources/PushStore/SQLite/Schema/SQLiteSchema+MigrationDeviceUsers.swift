extension SQLiteSchema {
    /// Migration 25: the users that devices had before their present one, so that a delivery is its user's of the time.
    static let deviceUsers = """
        -- A device was the user's up to this time, from that of its row before on. NULL: it had no user, or one who is erased.
        CREATE TABLE deviceUser (
            device INTEGER NOT NULL, until INTEGER NOT NULL, app INTEGER NOT NULL REFERENCES app (id), user TEXT,
            PRIMARY KEY (device, until)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX deviceUserByName ON deviceUser (app, user) WHERE user IS NOT NULL;
        CREATE INDEX deviceUserByTime ON deviceUser (until);
        """
}
