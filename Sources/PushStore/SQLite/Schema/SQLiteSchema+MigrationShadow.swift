extension SQLiteSchema {
    /// Migration 24: what bridges in shadow mode would have sent, compared with an old server (docs/decisions/0046).
    static let shadow = """
        CREATE TABLE shadow (
            kind TEXT NOT NULL, name TEXT NOT NULL, app INTEGER NOT NULL REFERENCES app (id),
            since INTEGER NOT NULL, requests INTEGER NOT NULL, agreements INTEGER NOT NULL,
            PRIMARY KEY (kind, name, app)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE shadowDifference (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL, name TEXT NOT NULL, app INTEGER NOT NULL REFERENCES app (id),
            at INTEGER NOT NULL, subject TEXT NOT NULL, field TEXT, ours TEXT NOT NULL, theirs TEXT NOT NULL
        ) STRICT;
        CREATE INDEX shadowDifferenceOfBridge ON shadowDifference (app, kind, name, number);
        """
}
