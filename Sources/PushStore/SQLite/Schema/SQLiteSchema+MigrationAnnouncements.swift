extension SQLiteSchema {
    /// The announcements of the end of certificates (docs/decisions/0026).
    static let announcements = """
        -- The most days that were left when the end was announced last; NULL before the first announcement.
        ALTER TABLE credential ADD COLUMN announcedStage INTEGER;
        """
}
