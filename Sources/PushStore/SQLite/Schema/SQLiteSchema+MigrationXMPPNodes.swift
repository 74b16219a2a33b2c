extension SQLiteSchema {
    /// Migration 19: nodes of push components (docs/decisions/0043).
    static let xmppNodes = """
        CREATE TABLE xmppNode (
            id INTEGER PRIMARY KEY, node TEXT NOT NULL UNIQUE, app INTEGER NOT NULL REFERENCES app (id),
            component TEXT NOT NULL, secretHash BLOB NOT NULL,
            -- One of both is not NULL.
            installation TEXT, user TEXT,
            domain TEXT NOT NULL, account TEXT, createdAt INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX xmppNodeOfApp ON xmppNode (app);
        CREATE INDEX xmppNodeOfInstallation ON xmppNode (app, installation, createdAt) WHERE installation IS NOT NULL;
        CREATE INDEX xmppNodeOfUser ON xmppNode (app, user, createdAt) WHERE user IS NOT NULL;
        """
}
