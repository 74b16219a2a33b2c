extension SQLiteSchema {
    /// Migration 18: bridges to other systems, and the origin of notifications (docs/decisions/0042).
    static let bridges = """
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
        """
}
