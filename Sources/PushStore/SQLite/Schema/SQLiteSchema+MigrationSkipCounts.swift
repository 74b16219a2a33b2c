extension SQLiteSchema {
    /// Migration 11: the numbers of skipped recipients for each reason. What was sent before has none.
    static let skipCounts = """
        CREATE TABLE skipCount (
            notification INTEGER NOT NULL REFERENCES notification (number) ON DELETE CASCADE,
            reason INTEGER NOT NULL, count INTEGER NOT NULL,
            PRIMARY KEY (notification, reason)
        ) STRICT, WITHOUT ROWID;
        """
}
