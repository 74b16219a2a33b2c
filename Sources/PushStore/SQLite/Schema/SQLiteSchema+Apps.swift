extension SQLiteSchema {
    /// Apps with their credentials, and what is known of each environment.
    ///
    /// An environment is stored as 0 for production and 1 for sandbox, a time as milliseconds since 1970.
    static let apps = """
        CREATE TABLE app (
            id INTEGER PRIMARY KEY, bundleID TEXT NOT NULL UNIQUE, name TEXT, createdAt INTEGER NOT NULL,
            -- Pushes per second.
            rate INTEGER,
            -- The highest position that a block of events of the app has.
            eventPosition INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE credential (
            app INTEGER NOT NULL REFERENCES app (id), environment INTEGER NOT NULL, kind TEXT NOT NULL,
            teamID TEXT, keyID TEXT, sealed BLOB NOT NULL,
            PRIMARY KEY (app, environment)
        ) STRICT;
        CREATE TABLE health (
            app INTEGER NOT NULL, environment INTEGER NOT NULL, breakerOpenSince INTEGER, breakerReason TEXT,
            -- The time of the first push that was accepted with the credential.
            provenAt INTEGER,
            PRIMARY KEY (app, environment)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE providerToken (
            teamID TEXT NOT NULL, keyID TEXT NOT NULL, fingerprint TEXT NOT NULL, sealed BLOB NOT NULL,
            issuedAt INTEGER NOT NULL, isRefused INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (teamID, keyID, fingerprint)
        ) STRICT, WITHOUT ROWID;
        -- A known text, sealed: it tells a wrong master key from a damaged row.
        CREATE TABLE masterKeyMark (id INTEGER PRIMARY KEY CHECK (id = 1), sealed BLOB NOT NULL) STRICT;
        """
}
