extension SQLiteSchema {
    /// Migration 22: the legacy protocols, in both directions (docs/decisions/0047).
    static let legacy = """
        -- 'http2' or 'binary'.
        ALTER TABLE credential ADD COLUMN transport TEXT NOT NULL DEFAULT 'http2';
        -- The last reading of a feedback service. nextAt is of the steady clock, the other times of the wall clock.
        CREATE TABLE feedbackRun (
            app INTEGER NOT NULL REFERENCES app (id), environment INTEGER NOT NULL,
            nextAt INTEGER NOT NULL, startedAt INTEGER NOT NULL,
            -- NULL while it is being read, and after a crash.
            endedAt INTEGER,
            tokens INTEGER NOT NULL DEFAULT 0, deactivated INTEGER NOT NULL DEFAULT 0, kept INTEGER NOT NULL DEFAULT 0,
            withheld INTEGER NOT NULL DEFAULT 0, unknown INTEGER NOT NULL DEFAULT 0,
            -- The failures in a row, and the error of the last one.
            failures INTEGER NOT NULL DEFAULT 0, error TEXT,
            PRIMARY KEY (app, environment)
        ) STRICT, WITHOUT ROWID;
        -- Tokens of pushes of old providers that the push service has called invalid, until those know it.
        CREATE TABLE legacyToken (
            app INTEGER NOT NULL REFERENCES app (id), environment INTEGER NOT NULL, token BLOB NOT NULL,
            -- The time from which the push service calls it invalid.
            since INTEGER NOT NULL,
            -- It is in the feedback list, and its next push gets status 8.
            isListed INTEGER NOT NULL, isRefused INTEGER NOT NULL, addedAt INTEGER NOT NULL,
            PRIMARY KEY (app, environment, token)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX legacyTokenByAge ON legacyToken (addedAt);
        """
}
