extension SQLiteSchema {
    /// Migration 28: the origins with which addresses of Web Push were given out, for which their senders' tokens must be
    /// (docs/decisions/0045).
    static let pushResourceOrigins = "ALTER TABLE pushResource ADD COLUMN origin TEXT"
}
