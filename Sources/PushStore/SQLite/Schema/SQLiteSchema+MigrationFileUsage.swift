extension SQLiteSchema {
    /// Migration 32: the number of the files of each app and their bytes, which its limits need with each upload
    /// (docs/decisions/0037).
    static let fileUsage = """
        CREATE TABLE fileUsage (app INTEGER PRIMARY KEY, files INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT;
        INSERT INTO fileUsage SELECT app, count(*), sum(size) FROM file GROUP BY app;
        -- No statement that adds or removes files can forget to count them. The app and the size of a file never change.
        CREATE TRIGGER fileComes AFTER INSERT ON file BEGIN
            INSERT INTO fileUsage VALUES (NEW.app, 1, NEW.size)
            ON CONFLICT (app) DO UPDATE SET files = files + 1, bytes = bytes + excluded.bytes;
        END;
        CREATE TRIGGER fileGoes AFTER DELETE ON file BEGIN
            UPDATE fileUsage SET files = files - 1, bytes = bytes - OLD.size WHERE app = OLD.app;
        END;
        """
}
