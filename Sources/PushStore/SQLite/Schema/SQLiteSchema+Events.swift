extension SQLiteSchema {
    /// The history of tokens, the webhooks, and the events for them.
    static let events = """
        CREATE TABLE tokenEvent (
            id INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL, device INTEGER NOT NULL, token BLOB NOT NULL,
            environment INTEGER NOT NULL, action TEXT NOT NULL, reason TEXT, notification TEXT, at INTEGER NOT NULL,
            since INTEGER
        ) STRICT;
        CREATE INDEX tokenEventByApp ON tokenEvent (app, id);
        CREATE INDEX tokenEventByToken ON tokenEvent (token);
        CREATE INDEX tokenEventByAction ON tokenEvent (action, app, environment);
        CREATE INDEX tokenEventByTime ON tokenEvent (at);
        CREATE TABLE webhook (
            id TEXT PRIMARY KEY, app INTEGER NOT NULL REFERENCES app (id), url TEXT NOT NULL, sealed BLOB NOT NULL,
            events TEXT NOT NULL, isActive INTEGER NOT NULL, createdAt INTEGER NOT NULL, cursor INTEGER NOT NULL,
            failures INTEGER NOT NULL, nextTryAt INTEGER, lastError TEXT, lastSuccessAt INTEGER,
            version INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE eventBlock (
            id INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL,
            events BLOB NOT NULL, firstToken INTEGER, lastToken INTEGER,
            -- Given by the delivery of events, not by the writer of the block.
            position INTEGER
        ) STRICT;
        CREATE INDEX eventBlockByApp ON eventBlock (app, id);
        CREATE INDEX eventBlockByTime ON eventBlock (at);
        CREATE UNIQUE INDEX eventBlockByPosition ON eventBlock (app, position) WHERE position IS NOT NULL;
        CREATE INDEX eventBlockToPlace ON eventBlock (app, id) WHERE position IS NULL;
        """
}
