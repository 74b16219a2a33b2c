extension SQLSchema {
    /// The statements of migrations 10 to 16, keyed by the migrations' names.
    static let from10: KeyValuePairs = [
        // The events of deliveries that no other table records (docs/decisions/0032). Earlier deliveries have none.
        "10 timeline": """
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
        """,
        // The number of skipped recipients for each reason. Earlier notifications have none.
        "11 skip counts": """
        CREATE TABLE skipCount (
            notification INTEGER NOT NULL REFERENCES notification (number) ON DELETE CASCADE,
            reason INTEGER NOT NULL, count INTEGER NOT NULL,
            PRIMARY KEY (notification, reason)
        ) STRICT, WITHOUT ROWID;
        """,
        // People, their sessions and links (docs/decisions/0035).
        "12 people": """
        CREATE TABLE person (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
            -- The name by which the person is found: composed, in lower case.
            nameKey TEXT NOT NULL UNIQUE,
            role TEXT NOT NULL,
            -- Bundle ids with spaces between them; NULL for all apps, the empty text for none.
            apps TEXT,
            -- A hash with its algorithm, parameters and salt; NULL until a link is redeemed.
            password TEXT,
            createdAt INTEGER NOT NULL, lastSeenAt INTEGER, isDisabled INTEGER NOT NULL DEFAULT 0, language TEXT
        ) STRICT;
        -- A session of a person or of an API key. Its times are those of the steady clock.
        CREATE TABLE session (
            id TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE,
            person TEXT REFERENCES person (id) ON DELETE CASCADE, apiKey TEXT REFERENCES apiKey (id) ON DELETE CASCADE,
            createdAt INTEGER NOT NULL, lastUsedAt INTEGER NOT NULL, expiresAt INTEGER NOT NULL, agent TEXT NOT NULL,
            CHECK ((person IS NULL) != (apiKey IS NULL))
        ) STRICT;
        CREATE INDEX sessionByPerson ON session (person, lastUsedAt);
        CREATE INDEX sessionByKey ON session (apiKey, lastUsedAt);
        -- A link with which a person chooses a password; NULL makes the first person.
        CREATE TABLE personLink (
            hash BLOB PRIMARY KEY, person TEXT UNIQUE REFERENCES person (id) ON DELETE CASCADE,
            expiresAt INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        -- The networks from which people have signed in: 4 bytes of IPv4, 8 of IPv6.
        CREATE TABLE personNetwork (
            person TEXT NOT NULL REFERENCES person (id) ON DELETE CASCADE, network BLOB NOT NULL, at INTEGER NOT NULL,
            PRIMARY KEY (person, network)
        ) STRICT, WITHOUT ROWID;
        -- The failed attempts to sign in, by a code of the name. Its times are those of the steady clock.
        CREATE TABLE signInLock (name TEXT PRIMARY KEY, failures INTEGER NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE INDEX signInLockByTime ON signInLock (at);
        -- Not 0: the key and its name are those of a person.
        ALTER TABLE audit ADD COLUMN isPerson INTEGER NOT NULL DEFAULT 0;
        """,
        // Named audiences, templates with their versions, and the schedules that use them (docs/decisions/0040).
        "13 library": """
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
        """,
        // The publications, issues and files of apps (docs/decisions/0037).
        //
        // Each row contains the id of its app, by which the app's erasure finds it.
        "14 publishing": """
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
        """,
        // The publishers' servers that decide whether a reader is entitled to an issue (docs/decisions/0038).
        "15 entitlement": """
        CREATE TABLE entitlementServer (
            app INTEGER PRIMARY KEY REFERENCES app (id), url TEXT NOT NULL,
            -- json or xml.
            form TEXT NOT NULL,
            -- refuse, allowKnown or allow.
            whenDown TEXT NOT NULL,
            sealed BLOB NOT NULL, revision TEXT NOT NULL, changedAt INTEGER NOT NULL
        ) STRICT;
        """,
        // Indexes for lists, the counters of charts, and the switch that stops an app (docs/decisions/0040).
        "16 statistics": """
        CREATE INDEX notificationByAppAndName ON notification (app, name, number) WHERE name IS NOT NULL;
        -- A push to one device is not sorted by its recipients, and costs no entry.
        CREATE INDEX notificationByRecipients ON notification (app, recipients, number) WHERE recipients > 1;
        CREATE INDEX notificationCancelled ON notification (app, number) WHERE state = 'cancelled';
        CREATE INDEX notificationByTime ON notification (createdAt);
        CREATE INDEX deviceInactive ON device (app, id) WHERE isActive = 0;
        -- Those that are not being sent to, and not accepted.
        CREATE INDEX deliveryUnsuccessful ON delivery (notification, state, recipient) WHERE state > 1;
        -- at: the beginning of the interval in seconds since 1970; step: its length in seconds.
        -- latency0 to latency9: the numbers of pushes whose response came within the bounds of LatencyHistogram.
        CREATE TABLE statistic (
            app INTEGER NOT NULL, at INTEGER NOT NULL, step INTEGER NOT NULL,
            accepted INTEGER NOT NULL DEFAULT 0, rejected INTEGER NOT NULL DEFAULT 0,
            failed INTEGER NOT NULL DEFAULT 0, skipped INTEGER NOT NULL DEFAULT 0, unknown INTEGER NOT NULL DEFAULT 0,
            opened INTEGER NOT NULL DEFAULT 0,
            latency0 INTEGER NOT NULL DEFAULT 0, latency1 INTEGER NOT NULL DEFAULT 0,
            latency2 INTEGER NOT NULL DEFAULT 0, latency3 INTEGER NOT NULL DEFAULT 0,
            latency4 INTEGER NOT NULL DEFAULT 0, latency5 INTEGER NOT NULL DEFAULT 0,
            latency6 INTEGER NOT NULL DEFAULT 0, latency7 INTEGER NOT NULL DEFAULT 0,
            latency8 INTEGER NOT NULL DEFAULT 0, latency9 INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (app, at, step)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX statisticByAge ON statistic (step, at);
        -- What was not accepted, by its reason.
        CREATE TABLE statisticReason (
            app INTEGER NOT NULL, at INTEGER NOT NULL, step INTEGER NOT NULL, state INTEGER NOT NULL,
            reason INTEGER NOT NULL, count INTEGER NOT NULL,
            PRIMARY KEY (app, at, step, state, reason)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX statisticReasonByAge ON statisticReason (step, at);
        -- An app that is stopped: nothing of it is sent until it is resumed.
        CREATE TABLE appStop (
            app INTEGER PRIMARY KEY REFERENCES app (id) ON DELETE CASCADE, since INTEGER NOT NULL, reason TEXT,
            key TEXT, keyName TEXT
        ) STRICT;
        -- What went wrong with the latest runs of a schedule, and when; NULL after a run that was made.
        ALTER TABLE schedule ADD COLUMN problem TEXT;
        ALTER TABLE schedule ADD COLUMN problemAt INTEGER;
        """,
    ]
}
