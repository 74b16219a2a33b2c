extension SQLiteSchema {
    /// Migration 29: the order in which bridges were added. Those that were there keep the root of gorush's door where it was: with
    /// the bridge `default`, which is the first of them.
    static let bridgeNumbers = """
        ALTER TABLE bridge ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
        UPDATE bridge SET number = ordered.number FROM (
            SELECT kind, name, row_number() OVER (ORDER BY name != 'default', changedAt, kind, name) AS number FROM bridge
        ) AS ordered WHERE bridge.kind = ordered.kind AND bridge.name = ordered.name;
        """
}
