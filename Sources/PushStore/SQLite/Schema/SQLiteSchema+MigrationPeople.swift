extension SQLiteSchema {
    /// Migration 12: people, their sessions and links (docs/decisions/0035).
    static let people = """
        CREATE TABLE person (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
            -- The name by which the person is found: composed, in lower case.
            nameKey TEXT NOT NULL UNIQUE,
            role TEXT NOT NULL,
            -- Bundle ids with spaces between them; NULL for all apps, the empty text for none.
            apps TEXT,
            -- A hash with its algorithm, parameters and salt; NULL until a link is redeemed.
            password TEXT,
            createdAt INTEGER NOT NULL, lastSeenAt INTEGER, isDisabled INTEGER NOT NULL DEFAULT 0, language TEXT
        ) STRICT;
        -- A session of a person or of an API key. Its times are those of the steady clock.
        CREATE TABLE session (
            id TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE,
            person TEXT REFERENCES person (id) ON DELETE CASCADE, apiKey TEXT REFERENCES apiKey (id) ON DELETE CASCADE,
            createdAt INTEGER NOT NULL, lastUsedAt INTEGER NOT NULL, expiresAt INTEGER NOT NULL, agent TEXT NOT NULL,
            CHECK ((person IS NULL) != (apiKey IS NULL))
        ) STRICT;
        CREATE INDEX sessionByPerson ON session (person, lastUsedAt);
        CREATE INDEX sessionByKey ON session (apiKey, lastUsedAt);
        -- A link with which a person chooses a password; NULL makes the first person.
        CREATE TABLE personLink (
            hash BLOB PRIMARY KEY, person TEXT UNIQUE REFERENCES person (id) ON DELETE CASCADE,
            expiresAt INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        -- The networks from which people have signed in: 4 bytes of IPv4, 8 of IPv6.
        CREATE TABLE personNetwork (
            person TEXT NOT NULL REFERENCES person (id) ON DELETE CASCADE, network BLOB NOT NULL, at INTEGER NOT NULL,
            PRIMARY KEY (person, network)
        ) STRICT, WITHOUT ROWID;
        -- The failed attempts to sign in, by a code of the name. Its times are those of the steady clock.
        CREATE TABLE signInLock (name TEXT PRIMARY KEY, failures INTEGER NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE INDEX signInLockByTime ON signInLock (at);
        -- Not 0: the key and its name are those of a person.
        ALTER TABLE audit ADD COLUMN isPerson INTEGER NOT NULL DEFAULT 0;
        """
}
