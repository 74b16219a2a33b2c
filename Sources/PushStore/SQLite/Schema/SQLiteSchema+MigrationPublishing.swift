extension SQLiteSchema {
    /// The publications, issues and files of apps (docs/decisions/0037).
    ///
    /// Each table has the app in each row, so that an app's erasure finds it.
    static let publishing = """
        CREATE TABLE publication (
            id TEXT PRIMARY KEY, app INTEGER NOT NULL, name TEXT NOT NULL,
            -- The publisher's account whose devices see its issues; NULL for all devices.
            account TEXT,
            waveSize INTEGER NOT NULL, waveInterval INTEGER NOT NULL,
            maximumBandwidth INTEGER, maximumDownloads INTEGER, createdAt INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX publicationByApp ON publication (app, name);
        -- date: days since 1970.
        CREATE TABLE issue (
            position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, app INTEGER NOT NULL, publication TEXT NOT NULL,
            productID TEXT NOT NULL, title TEXT NOT NULL, number TEXT, date INTEGER NOT NULL, state TEXT NOT NULL,
            access TEXT NOT NULL, createdAt INTEGER NOT NULL, publishedAt INTEGER, cover BLOB, notification TEXT
        ) STRICT;
        CREATE UNIQUE INDEX issueByProduct ON issue (app, productID);
        CREATE INDEX issueByPublication ON issue (publication, date, position);
        CREATE INDEX publishedIssue ON issue (app, date, position) WHERE state = 'published';
        CREATE INDEX issueByCover ON issue (app, cover) WHERE cover IS NOT NULL;
        CREATE TABLE rendition (
            issue TEXT NOT NULL, longer INTEGER NOT NULL, shorter INTEGER NOT NULL, app INTEGER NOT NULL,
            hash BLOB NOT NULL,
            PRIMARY KEY (issue, longer, shorter)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX renditionByFile ON rendition (app, hash);
        -- The content is in the folder of files, named by its hash.
        CREATE TABLE file (
            hash BLOB NOT NULL, app INTEGER NOT NULL, size INTEGER NOT NULL, contentType TEXT NOT NULL,
            name TEXT NOT NULL, createdAt INTEGER NOT NULL,
            -- The time since which nothing refers to it.
            unusedSince INTEGER,
            PRIMARY KEY (hash, app)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX fileByApp ON file (app, hash);
        CREATE INDEX unusedFile ON file (unusedSince) WHERE unusedSince IS NOT NULL;
        CREATE TABLE upload (
            id TEXT PRIMARY KEY, app INTEGER NOT NULL, hash BLOB NOT NULL, size INTEGER NOT NULL,
            contentType TEXT NOT NULL, name TEXT NOT NULL, received INTEGER NOT NULL,
            createdAt INTEGER NOT NULL, changedAt INTEGER NOT NULL, completedAt INTEGER
        ) STRICT;
        CREATE INDEX uploadByApp ON upload (app) WHERE completedAt IS NULL;
        CREATE INDEX uploadByChange ON upload (changedAt);
        -- Counts the changes of what the catalogue of an app may show.
        CREATE TABLE catalogue (app INTEGER PRIMARY KEY, version INTEGER NOT NULL) STRICT;
        -- The key that signs the addresses of files.
        CREATE TABLE addressKey (id INTEGER PRIMARY KEY CHECK (id = 1), sealed BLOB NOT NULL) STRICT;
        """
}
