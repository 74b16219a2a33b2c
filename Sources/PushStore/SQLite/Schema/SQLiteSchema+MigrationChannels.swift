extension SQLiteSchema {
    /// Migration 23: broadcast channels (docs/decisions/0048).
    static let channels = """
        CREATE TABLE channel (
            app INTEGER NOT NULL REFERENCES app (id), environment INTEGER NOT NULL, id TEXT NOT NULL,
            -- 0 stores no broadcast, 1 the newest.
            storage INTEGER NOT NULL, name TEXT, createdAt INTEGER NOT NULL,
            -- NULL as long as it is there.
            deletedAt INTEGER,
            PRIMARY KEY (app, environment, id)
        ) STRICT, WITHOUT ROWID;
        """
}
