extension SQLiteSchema {
    /// Migration 5: API keys of single apps that expire and have a rate, the secrets with which back ends sign for
    /// users, and what is being erased.
    static let keysPerApp = """
        -- Bundle ids with spaces between them; NULL for all apps.
        ALTER TABLE apiKey ADD COLUMN apps TEXT;
        ALTER TABLE apiKey ADD COLUMN expiresAt INTEGER;
        -- Requests per second; NULL for the server's own.
        ALTER TABLE apiKey ADD COLUMN rate INTEGER;
        ALTER TABLE apiKey ADD COLUMN lastUsedAt INTEGER;
        -- The id of what the request made.
        ALTER TABLE audit ADD COLUMN resource TEXT;
        CREATE TABLE userSecret (
            id TEXT PRIMARY KEY, app INTEGER NOT NULL REFERENCES app (id), sealed BLOB NOT NULL,
            createdAt INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX userSecretByApp ON userSecret (app);
        -- Not 0: the app is being erased, and for every request it does not exist.
        ALTER TABLE app ADD COLUMN isErased INTEGER NOT NULL DEFAULT 0;
        -- The ids of apps are not used again, so that what is kept for one in memory never counts for another.
        CREATE TABLE lastApp (id INTEGER NOT NULL) STRICT;
        INSERT INTO lastApp SELECT coalesce(max(id), 0) FROM app;
        -- What is being erased: a user of an app, or with NULL the whole app. The name of the user and the tokens of
        -- the user's devices go with the last row of theirs, and then only the file remains to be overwritten.
        CREATE TABLE erasure (
            id INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL, user TEXT, tokens TEXT,
            requestedAt INTEGER NOT NULL, isEmptied INTEGER NOT NULL DEFAULT 0,
            -- The newest device and notification at the request: what a user gets after it stays.
            lastDevice INTEGER, lastNotification INTEGER
        ) STRICT;
        CREATE UNIQUE INDEX erasureBySubject ON erasure (app, ifnull(user, '')) WHERE isEmptied = 0;
        """
}
