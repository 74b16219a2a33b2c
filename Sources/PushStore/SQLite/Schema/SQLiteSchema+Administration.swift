extension SQLiteSchema {
    /// API keys, the audit, and the record of time.
    static let administration = """
        CREATE TABLE apiKey (
            id TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, name TEXT NOT NULL, scopes TEXT NOT NULL,
            createdAt INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE audit (
            id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, key TEXT, keyName TEXT NOT NULL,
            action TEXT NOT NULL, status INTEGER NOT NULL,
            -- Rejected requests that repeat are one entry.
            count INTEGER NOT NULL DEFAULT 1
        ) STRICT;
        CREATE INDEX auditByTime ON audit (at);
        CREATE TABLE clock (
            id INTEGER PRIMARY KEY CHECK (id = 1), steady INTEGER NOT NULL, claim INTEGER, agreed INTEGER NOT NULL
        ) STRICT;
        """
}
