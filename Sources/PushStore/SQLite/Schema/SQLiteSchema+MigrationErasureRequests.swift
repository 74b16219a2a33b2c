extension SQLiteSchema {
    /// Migration 30: the requests for an erasure, of which one that comes while it is under way only asks for its state
    /// (docs/decisions/0051).
    static let erasureRequests = """
        -- The number of the latest request that began it or extended it.
        ALTER TABLE erasure ADD COLUMN request INTEGER NOT NULL DEFAULT 1;
        -- The latest of them that was answered as complete; 0 for none.
        ALTER TABLE erasure ADD COLUMN answered INTEGER NOT NULL DEFAULT 0;
        """
}
