import GRDB

/// Migration 6: refusals that repeat are one audit entry with a count.
enum AuditCountMigration {
    static let identifier = "6 counts of audit entries"

    static func run(_ database: Database) throws {
        try database.execute(sql: "ALTER TABLE audit ADD COLUMN count INTEGER NOT NULL DEFAULT 1")
    }
}
