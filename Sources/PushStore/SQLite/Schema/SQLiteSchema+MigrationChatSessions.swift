extension SQLiteSchema {
    /// Migration 21: sessions that the provider keeps at chat servers for users (docs/decisions/0044).
    static let chatSessions = """
        CREATE TABLE chatSession (
            number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, app INTEGER NOT NULL REFERENCES app (id),
            user TEXT NOT NULL, protocol TEXT NOT NULL, host TEXT NOT NULL, port INTEGER NOT NULL, account TEXT NOT NULL,
            -- The password.
            sealed BLOB NOT NULL, settings TEXT NOT NULL, state TEXT NOT NULL, lastError TEXT,
            seenThrough INTEGER NOT NULL, revision TEXT NOT NULL, createdAt INTEGER NOT NULL, changedAt INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX chatSessionOfApp ON chatSession (app, user, number);
        """
}
