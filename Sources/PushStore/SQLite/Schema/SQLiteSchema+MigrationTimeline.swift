extension SQLiteSchema {
    /// The steps of deliveries that nothing else remembers (docs/decisions/0032). What was sent before has none.
    static let timeline = """
        -- The arrival of the request, the microseconds of reading and checking it, and its warnings as a JSON array.
        ALTER TABLE notification ADD COLUMN receivedAt INTEGER;
        ALTER TABLE notification ADD COLUMN checkedIn INTEGER;
        ALTER TABLE notification ADD COLUMN warnings BLOB;
        ALTER TABLE notification ADD COLUMN openedAt INTEGER;
        -- The id of the connection and the milliseconds from the page's sending to the outcome, in one number.
        ALTER TABLE delivery ADD COLUMN trip INTEGER;
        CREATE TABLE connection (
            id INTEGER PRIMARY KEY AUTOINCREMENT, service TEXT NOT NULL, address TEXT, localPort INTEGER,
            openedAt INTEGER NOT NULL
        ) STRICT;
        -- A delivery ends at the time of its page: with it the page is found.
        CREATE TABLE page (
            notification INTEGER NOT NULL, answeredAt INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
            recipients INTEGER NOT NULL, claimedAt INTEGER, sentAt INTEGER NOT NULL, committedAt INTEGER NOT NULL,
            isRetry INTEGER NOT NULL, block INTEGER,
            PRIMARY KEY (notification, answeredAt, first)
        ) STRICT, WITHOUT ROWID;
        -- The tries after which there was another one. number: twice the tries that counted before, plus 1 for those that
        -- never left, of which there may be any number.
        CREATE TABLE attempt (
            notification INTEGER NOT NULL, recipient INTEGER NOT NULL, number INTEGER NOT NULL,
            firstAt INTEGER NOT NULL, at INTEGER NOT NULL, times INTEGER NOT NULL, reason INTEGER, trip INTEGER,
            PRIMARY KEY (notification, recipient, number)
        ) STRICT, WITHOUT ROWID;
        -- The positions of the blocks of each acknowledged post. Posts of one webhook that overlap are replays.
        CREATE TABLE webhookPost (
            webhook TEXT NOT NULL, last INTEGER NOT NULL, first INTEGER NOT NULL, app INTEGER NOT NULL,
            postedAt INTEGER NOT NULL, acknowledgedAt INTEGER NOT NULL,
            PRIMARY KEY (webhook, last)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX webhookPostByTime ON webhookPost (acknowledgedAt);
        """
}
