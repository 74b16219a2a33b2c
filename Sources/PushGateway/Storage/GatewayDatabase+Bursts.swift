extension GatewayDatabase {
    /// Messages on their way to a connected device lie beside each other: the key names each. Apps may want device tokens
    /// of 32 bytes, which installs then have.
    static let burstsAndShortTokens = """
        CREATE TABLE newMessage (
            device BLOB NOT NULL, environment TEXT NOT NULL, topic TEXT NOT NULL, sequence INTEGER NOT NULL,
            token BLOB NOT NULL, apnsID TEXT NOT NULL, pushType TEXT, priority INTEGER NOT NULL, collapseID TEXT,
            payload BLOB NOT NULL, acceptedAt INTEGER NOT NULL, expiresAt INTEGER NOT NULL,
            PRIMARY KEY (device, environment, topic, sequence)
        ) STRICT;
        INSERT INTO newMessage (device, environment, topic, sequence, token, apnsID, pushType, priority, collapseID,
                                payload, acceptedAt, expiresAt)
            SELECT device, environment, topic, sequence, token, apnsID, pushType, priority, collapseID, payload,
                   acceptedAt, expiresAt
            FROM message;
        DROP TABLE message;
        ALTER TABLE newMessage RENAME TO message;
        CREATE INDEX messageByExpiry ON message (expiresAt);
        ALTER TABLE app ADD COLUMN tokenLength INTEGER;
        ALTER TABLE install ADD COLUMN tokenLength INTEGER NOT NULL DEFAULT 0;
        """
}
