extension SQLiteSchema {
    /// Migration 13: named audiences, templates with their versions, and the schedules that use them (docs/decisions/0040).
    static let library = """
        CREATE TABLE libraryItem (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
            app INTEGER NOT NULL REFERENCES app (id), kind TEXT NOT NULL, name TEXT NOT NULL, description TEXT,
            body BLOB NOT NULL, version INTEGER NOT NULL,
            createdAt INTEGER NOT NULL, createdKey TEXT, createdKeyName TEXT,
            changedAt INTEGER NOT NULL, key TEXT, keyName TEXT
        ) STRICT;
        CREATE UNIQUE INDEX libraryItemByName ON libraryItem (app, kind, name);
        CREATE INDEX libraryItemByKind ON libraryItem (app, kind, number);
        CREATE TABLE libraryVersion (
            item INTEGER NOT NULL REFERENCES libraryItem (number) ON DELETE CASCADE, version INTEGER NOT NULL,
            name TEXT NOT NULL, description TEXT, body BLOB NOT NULL, at INTEGER NOT NULL, key TEXT, keyName TEXT,
            restoredFrom INTEGER,
            PRIMARY KEY (item, version)
        ) STRICT, WITHOUT ROWID;
        -- version: the one that the schedule names; 0 for the newest at each run.
        CREATE TABLE scheduleUse (
            schedule TEXT NOT NULL REFERENCES schedule (id) ON DELETE CASCADE,
            item INTEGER NOT NULL REFERENCES libraryItem (number) ON DELETE CASCADE, version INTEGER NOT NULL,
            PRIMARY KEY (schedule, item, version)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX scheduleUseByItem ON scheduleUse (item);
        """
}
