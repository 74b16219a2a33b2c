import GRDB

/// Migration 5: leases with an owner and a fencing number; counters beside the cursors that they belong to.
///
/// A shard or a retry names the lease that holds it, so that a lease that is lost is found without reading either.
enum LeaseMigration {
    static let identifier = "5 leases"

    static func run(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE node (id INTEGER PRIMARY KEY AUTOINCREMENT, startedAt INTEGER NOT NULL) STRICT;
                -- AUTOINCREMENT: a fencing number rises with every claim and is never used again.
                CREATE TABLE lease (
                    fence INTEGER PRIMARY KEY AUTOINCREMENT, owner INTEGER NOT NULL, until INTEGER NOT NULL
                ) STRICT;
                ALTER TABLE shard DROP COLUMN leaseUntil;
                ALTER TABLE shard ADD COLUMN lease INTEGER;
                ALTER TABLE shard ADD COLUMN accepted INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE shard ADD COLUMN rejected INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE shard ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE shard ADD COLUMN skipped INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE shard ADD COLUMN lastPageAt INTEGER;
                ALTER TABLE notification ADD COLUMN skipped INTEGER NOT NULL DEFAULT 0;
                CREATE INDEX shardByLease ON shard (lease) WHERE lease IS NOT NULL;
                DROP INDEX retryByTime;
                DROP INDEX retryByApp;
                ALTER TABLE retry DROP COLUMN isLeased;
                ALTER TABLE retry ADD COLUMN lease INTEGER;
                CREATE INDEX retryByTime ON retry (lane, dueAt) WHERE lease IS NULL;
                CREATE INDEX retryByApp ON retry (lane, app, dueAt) WHERE lease IS NULL;
                UPDATE notification SET recipients = accepted + rejected + failed WHERE state = 'done';
                CREATE INDEX retryByLease ON retry (lease) WHERE lease IS NOT NULL;
                """
        )
    }
}
