extension SQLSchema {
    /// The tables that these migrations create. They are the last ones of ``StoredTable/all``.
    static let tablesFrom29 = [
        StoredTable("timeBlock", .provider), StoredTable("fileUsage", .app(.inSteps)), StoredTable("duty", .provider),
        StoredTable("begun", .notification(isLedger: false)),
    ]

    /// The statements of the migrations from number 29 on, keyed by their names. A new migration is added at the end.
    ///
    /// None of them recreates a table. Therefore foreign keys are checked for each written row, and not for all tables
    /// at the end of a migration, which would read the whole database.
    static let from29: KeyValuePairs = [
        // The order in which bridges were added. Among the existing bridges, the bridge `default` becomes the first, so
        // that it keeps the root path of the gorush API.
        "29 bridge numbers": """
        ALTER TABLE bridge ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
        UPDATE bridge SET number = ordered.number FROM (
            SELECT kind, name, row_number() OVER (ORDER BY name != 'default', changedAt, kind, name) AS number FROM bridge
        ) AS ordered WHERE bridge.kind = ordered.kind AND bridge.name = ordered.name;
        """,
        // The numbers of erasure requests. A request that arrives while the erasure is in progress only returns the
        // state of that erasure (docs/decisions/0051).
        "30 erasure requests": """
        -- The number of the latest request that began it or extended it.
        ALTER TABLE erasure ADD COLUMN request INTEGER NOT NULL DEFAULT 1;
        -- The latest of them that was answered as complete; 0 for none.
        ALTER TABLE erasure ADD COLUMN answered INTEGER NOT NULL DEFAULT 0;
        """,
        // The range of times of each block of 1,024 row numbers. It limits lists by time even where row numbers do not
        // rise with the time (docs/decisions/0040).
        "31 time blocks": """
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
        """,
        // The number and total size of each app's files, which every upload is checked against (docs/decisions/0037).
        "32 file usage": """
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
        """,
        // The order of changes of devices' users and of erasure requests. An erasure spares the devices that were
        // assigned to the user after its request (docs/decisions/0051).
        "33 user changes": """
        -- The registration clock when the device became its user's. NULL: before this migration.
        ALTER TABLE device ADD COLUMN userSince INTEGER;
        -- What is from before this migration is below all readings of the clock, in the order of the devices' ids.
        CREATE INDEX deviceByUserSince ON device (app, user, coalesce(userSince, id - (1 << 62)))
            WHERE user IS NOT NULL;
        -- The registration clock at the request: what came after it has a later number. Before this migration, its newest device.
        ALTER TABLE erasure ADD COLUMN lastChange INTEGER NOT NULL DEFAULT 0;
        UPDATE erasure SET lastChange = ifnull(lastDevice, 0) - (1 << 62);
        """,
        // The times in audiences of schedules and of the library. Earlier versions accepted a fraction after the minutes,
        // as one of a second. It is rejected now (RFC 3339, section 5.6), also at the next run of a schedule.
        "34 fractions of times": [
            Self.addSeconds("schedule", "request", at: "$.to", where: "TRUE"),
            Self.addSeconds("libraryItem", "body", at: "$", where: "kind = 'audience'"),
            Self.addSeconds(
                "libraryVersion",
                "body",
                at: "$",
                where: "item IN (SELECT number FROM libraryItem WHERE kind = 'audience')"
            ),
        ].joined(),
        // The processes that use the database at the same time, and the duties that one of them performs for all
        // (docs/decisions/0055).
        "35 nodes": """
        ALTER TABLE node ADD COLUMN name TEXT NOT NULL DEFAULT '';
        ALTER TABLE node ADD COLUMN version TEXT NOT NULL DEFAULT '';
        -- The origin of its API; NULL for a node without a listener.
        ALTER TABLE node ADD COLUMN address TEXT;
        -- The time of its last heartbeat.
        ALTER TABLE node ADD COLUMN seenAt INTEGER NOT NULL DEFAULT 0;
        -- The time at which it ended or was taken for dead.
        ALTER TABLE node ADD COLUMN endedAt INTEGER;
        CREATE TABLE duty (name TEXT PRIMARY KEY, node INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        -- The recipients that are in flight under the guarantee atMostOnce, with the lease under which they are sent.
        CREATE TABLE begun (
            notification INTEGER NOT NULL REFERENCES notification (number) ON DELETE CASCADE,
            recipient INTEGER NOT NULL, fence INTEGER NOT NULL,
            PRIMARY KEY (notification, recipient, fence)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX begunByFence ON begun (fence);
        INSERT INTO begun SELECT notification, recipient, 0 FROM delivery
            WHERE state = 0 AND notification IN (SELECT number FROM notification);
        """,
    ]

    /// Returns the statement that adds `:00` to times with a fraction after the minutes, in the conditions `lastSeen` of
    /// audiences.
    /// - Parameters:
    ///   - column: The column with a JSON text as a blob. A text that is not JSON stays as it is.
    ///   - root: The JSON path of the audience.
    ///   - condition: The SQL condition on the rows.
    private static func addSeconds(
        _ table: String,
        _ column: String,
        at root: String,
        where condition: String
    ) -> String {
        let text = "CAST(\(table).\(column) AS TEXT)"
        return """
            UPDATE \(table) SET \(column) = (
                WITH RECURSIVE found AS (
                    SELECT row_number() OVER (ORDER BY id) AS number, fullkey,
                        substr(atom, 1, 16) || ':00' || substr(atom, 17) AS time
                    FROM json_tree(\(text), '\(root)')
                    WHERE path GLOB '*.lastSeen' AND type = 'text' AND atom GLOB '????-??-??[Tt]??:??.[0-9]*'
                ), changed AS (
                    SELECT 0 AS number, \(text) AS json
                    UNION ALL SELECT found.number, json_set(json, fullkey, time)
                    FROM changed JOIN found ON found.number = changed.number + 1
                )
                SELECT CAST(json AS BLOB) FROM changed ORDER BY number DESC LIMIT 1)
            WHERE \(condition) AND \(text) GLOB '*[Tt][0-9][0-9]:[0-9][0-9].[0-9]*' AND json_valid(\(text));

            """
    }
}
