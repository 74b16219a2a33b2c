extension SQLiteSchema {
    /// The servers of sessions that have proven with SCRAM that they know the password, and never get it (docs/decisions/0044).
    static let scram = "ALTER TABLE chatSession ADD COLUMN usesSCRAM INTEGER NOT NULL DEFAULT 0"
}
