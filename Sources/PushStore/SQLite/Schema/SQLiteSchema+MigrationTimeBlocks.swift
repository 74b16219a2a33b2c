extension SQLiteSchema {
    /// Migration 31: the times between which the rows of each 1,024 numbers are, so that lists are bounded by time also where
    /// numbers do not rise with it (docs/decisions/0040).
    static let timeBlocks = """
        -- list: 0 for notifications, 1 for the audit. The times are rounded outwards to 1,024 ms, so that a block is seldom written.
        CREATE TABLE timeBlock (
            list INTEGER NOT NULL, block INTEGER NOT NULL, earliest INTEGER NOT NULL, latest INTEGER NOT NULL,
            PRIMARY KEY (list, block)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO timeBlock
            SELECT 0, number >> 10, min(createdAt) & ~1023, max(createdAt) | 1023 FROM notification GROUP BY number >> 10;
        INSERT INTO timeBlock SELECT 1, id >> 10, min(at) & ~1023, max(at) | 1023 FROM audit GROUP BY id >> 10;
        CREATE TRIGGER notificationInBlock AFTER INSERT ON notification BEGIN
            INSERT INTO timeBlock VALUES (0, NEW.number >> 10, NEW.createdAt & ~1023, NEW.createdAt | 1023)
            ON CONFLICT (list, block) DO UPDATE
            SET earliest = min(earliest, excluded.earliest), latest = max(latest, excluded.latest)
            WHERE excluded.earliest < earliest OR excluded.latest > latest;
        END;
        CREATE TRIGGER auditInBlock AFTER INSERT ON audit WHEN NEW.at > 0 BEGIN
            INSERT INTO timeBlock VALUES (1, NEW.id >> 10, NEW.at & ~1023, NEW.at | 1023)
            ON CONFLICT (list, block) DO UPDATE
            SET earliest = min(earliest, excluded.earliest), latest = max(latest, excluded.latest)
            WHERE excluded.earliest < earliest OR excluded.latest > latest;
        END;
        CREATE TRIGGER blockOfNotificationsGoes AFTER DELETE ON notification BEGIN
            DELETE FROM timeBlock WHERE list = 0 AND block < (SELECT min(number) FROM notification) >> 10;
        END;
        CREATE TRIGGER blockOfAuditGoes AFTER DELETE ON audit BEGIN
            DELETE FROM timeBlock WHERE list = 1 AND block < (SELECT min(id) FROM audit) >> 10;
        END;
        """
}
