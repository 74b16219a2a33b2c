import Foundation
import GRDB

/// The gateway's SQLite file: opens it and brings its schema up to date.
///
/// Write-ahead log with `synchronous = NORMAL`: what was answered survives a killed process; a power failure can cost the
/// last moments. The schema's version is the list of migrations that ran.
enum GatewayDatabase {
    static let file = "gateway.sqlite"

    static func open(path: String) throws -> DatabasePool {
        do {
            // SQLite gives its log files the permissions of the database file.
            if !FileManager.default.fileExists(atPath: path) {
                _ = FileManager.default.createFile(
                    atPath: path,
                    contents: nil,
                    attributes: [.posixPermissions: 0o600]
                )
            }
            let database = try DatabasePool(path: path)
            guard try database.read({ try !Self.migrator.hasBeenSuperseded($0) }) else {
                throw GatewayError.badFile(path: path, why: "it was written by a newer version of Martlet")
            }
            try Self.migrator.migrate(database)
            return database
        } catch let error as DatabaseError {
            throw GatewayError.badFile(path: path, why: "\(error)")
        }
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 apps, keys, devices") { database in
            try database.execute(
                sql: """
                    CREATE TABLE app (bundleID TEXT PRIMARY KEY, teamID TEXT NOT NULL) STRICT, WITHOUT ROWID;
                    CREATE TABLE key (
                        keyID TEXT PRIMARY KEY, teamID TEXT NOT NULL, publicKey BLOB NOT NULL
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE device (
                        id TEXT PRIMARY KEY, name TEXT, activatedAt INTEGER NOT NULL, lastSeenAt INTEGER,
                        deletedAt INTEGER
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE registration (
                        device TEXT NOT NULL REFERENCES device (id), topic TEXT NOT NULL, generation INTEGER NOT NULL,
                        isActive INTEGER NOT NULL, endedAt INTEGER,
                        PRIMARY KEY (device, topic)
                    ) STRICT, WITHOUT ROWID;
                    """
            )
        }
        migrator.registerMigration("2 messages, events") { database in
            try database.execute(
                sql: """
                    CREATE TABLE message (
                        device TEXT NOT NULL, topic TEXT NOT NULL, sequence INTEGER NOT NULL, token BLOB NOT NULL,
                        apnsID TEXT NOT NULL, pushType TEXT, priority INTEGER NOT NULL, collapseID TEXT,
                        payload BLOB NOT NULL, acceptedAt INTEGER NOT NULL, expiresAt INTEGER NOT NULL,
                        PRIMARY KEY (device, topic)
                    ) STRICT;
                    CREATE INDEX messageByExpiry ON message (expiresAt);
                    CREATE TABLE event (
                        id INTEGER PRIMARY KEY, device TEXT NOT NULL, time INTEGER NOT NULL, name TEXT NOT NULL,
                        topic TEXT, apnsID TEXT
                    ) STRICT;
                    CREATE INDEX eventByDevice ON event (device, id);
                    """
            )
        }
        migrator.registerMigration("3 provider trust, channels, feedback") { database in
            try database.execute(sql: Self.providers)
        }
        migrator.registerMigration("4 environments, generations, event blocks") { database in
            try database.execute(sql: Self.environments)
        }
        migrator.registerMigration("5 bursts, tokens of 32 bytes") { database in
            try database.execute(sql: Self.burstsAndShortTokens)
        }
        return migrator
    }

    private static let providers = """
        ALTER TABLE app ADD COLUMN allowsBroadcast INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE key ADD COLUMN scope TEXT NOT NULL DEFAULT 'team';
        ALTER TABLE key ADD COLUMN environment TEXT;
        ALTER TABLE key ADD COLUMN topics TEXT;
        ALTER TABLE key ADD COLUMN relatedKeyID TEXT;
        ALTER TABLE key ADD COLUMN revokedAt INTEGER;
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

    /// Registrations are carried over, as the sandbox's; messages and events of earlier versions are not.
    private static let environments = """
        ALTER TABLE device ADD COLUMN certificateSerial TEXT;
        ALTER TABLE device ADD COLUMN revokedAt INTEGER;
        ALTER TABLE device ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE install (
            device TEXT NOT NULL, environment TEXT NOT NULL, topic TEXT NOT NULL, generation INTEGER NOT NULL,
            keyID INTEGER NOT NULL, mintedAt INTEGER NOT NULL, endedAt INTEGER,
            PRIMARY KEY (device, environment, topic, generation)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO install (device, environment, topic, generation, keyID, mintedAt, endedAt)
            SELECT device, 'sandbox', topic, generation, 1, coalesce(endedAt, 0), iif(isActive, NULL, endedAt)
            FROM registration;
        DROP TABLE registration;
        DROP TABLE message;
        DROP TABLE event;
        CREATE TABLE message (
            device BLOB NOT NULL, environment TEXT NOT NULL, topic TEXT NOT NULL, sequence INTEGER NOT NULL,
            token BLOB NOT NULL, apnsID TEXT NOT NULL, pushType TEXT, priority INTEGER NOT NULL, collapseID TEXT,
            payload BLOB NOT NULL, acceptedAt INTEGER NOT NULL, expiresAt INTEGER NOT NULL,
            PRIMARY KEY (device, environment, topic)
        ) STRICT;
        CREATE INDEX messageByExpiry ON message (expiresAt);
        CREATE TABLE eventBlock (
            id INTEGER PRIMARY KEY, lastTime INTEGER NOT NULL, count INTEGER NOT NULL, events BLOB NOT NULL
        ) STRICT;
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
        """
}
