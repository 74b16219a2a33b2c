import GRDB

enum GatewaySchema {
    /// The list of migrations. A database file records which of them have run.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("0.1") { try $0.execute(sql: self.credentials + self.devices + self.messages) }
        return migrator
    }

    private static let credentials = """
        CREATE TABLE app (
            bundleID TEXT PRIMARY KEY, teamID TEXT NOT NULL, allowsBroadcast INTEGER NOT NULL DEFAULT 1,
            tokenLength INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE key (
            keyID TEXT PRIMARY KEY, teamID TEXT NOT NULL, publicKey BLOB NOT NULL, scope TEXT NOT NULL DEFAULT 'team',
            environment TEXT, topics TEXT, relatedKeyID TEXT, revokedAt INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE certificate (
            serial TEXT PRIMARY KEY, topic TEXT NOT NULL, environments TEXT NOT NULL, topics TEXT NOT NULL,
            issuedAt INTEGER NOT NULL, expiresAt INTEGER NOT NULL, revokedAt INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE channel (
            environment TEXT NOT NULL, bundleID TEXT NOT NULL, id TEXT NOT NULL, policy INTEGER NOT NULL,
            createdAt INTEGER NOT NULL,
            PRIMARY KEY (environment, bundleID, id)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE feedback (
            environment TEXT NOT NULL, topic TEXT NOT NULL, token BLOB NOT NULL, time INTEGER NOT NULL,
            PRIMARY KEY (environment, topic, token)
        ) STRICT;

        """

    private static let devices = """
        CREATE TABLE device (
            id TEXT PRIMARY KEY, name TEXT, activatedAt INTEGER NOT NULL, lastSeenAt INTEGER, deletedAt INTEGER,
            certificateSerial TEXT, revokedAt INTEGER, epoch INTEGER NOT NULL DEFAULT 0
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE install (
            device TEXT NOT NULL, environment TEXT NOT NULL, topic TEXT NOT NULL, generation INTEGER NOT NULL,
            keyID INTEGER NOT NULL, mintedAt INTEGER NOT NULL, endedAt INTEGER,
            tokenLength INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (device, environment, topic, generation)
        ) STRICT, WITHOUT ROWID;

        """

    /// The table of messages. Its primary key includes the sequence number, because several messages of one topic that
    /// were sent to a connected device are kept together.
    private static let messages = """
        CREATE TABLE message (
            device BLOB NOT NULL, environment TEXT NOT NULL, topic TEXT NOT NULL, sequence INTEGER NOT NULL,
            token BLOB NOT NULL, apnsID TEXT NOT NULL, pushType TEXT, priority INTEGER NOT NULL, collapseID TEXT,
            payload BLOB NOT NULL, acceptedAt INTEGER NOT NULL, expiresAt INTEGER NOT NULL,
            PRIMARY KEY (device, environment, topic, sequence)
        ) STRICT;
        CREATE INDEX messageByExpiry ON message (expiresAt);
        CREATE TABLE channelMessage (
            environment TEXT NOT NULL, bundleID TEXT NOT NULL, channel TEXT NOT NULL, sequence INTEGER NOT NULL,
            requestID TEXT NOT NULL, priority INTEGER NOT NULL, payload BLOB NOT NULL, acceptedAt INTEGER NOT NULL,
            expiresAt INTEGER NOT NULL,
            PRIMARY KEY (environment, bundleID, channel)
        ) STRICT;
        CREATE TABLE subscription (
            device TEXT NOT NULL, environment TEXT NOT NULL, bundleID TEXT NOT NULL, channel TEXT NOT NULL,
            lastSequence INTEGER NOT NULL,
            PRIMARY KEY (device, environment, bundleID, channel)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE eventBlock (
            id INTEGER PRIMARY KEY, lastTime INTEGER NOT NULL, count INTEGER NOT NULL, events BLOB NOT NULL
        ) STRICT;
        """
}
