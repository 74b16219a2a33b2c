extension SQLiteSchema {
    /// The pauses of environments, and the work that they hold back (docs/decisions/0022).
    static let environmentPauses = """
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
        """
}
