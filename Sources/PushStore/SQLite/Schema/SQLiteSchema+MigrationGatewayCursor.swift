extension SQLiteSchema {
    /// Migration 27: the time of the newest event that was read of a gateway. NULL: it is not known.
    static let gatewayCursor = "ALTER TABLE gatewayCursor ADD COLUMN at INTEGER"
}
