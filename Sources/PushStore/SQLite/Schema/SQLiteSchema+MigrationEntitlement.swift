extension SQLiteSchema {
    /// Migration 15: the publishers' servers that decide about entitlement (docs/decisions/0038).
    static let entitlement = """
        CREATE TABLE entitlementServer (
            app INTEGER PRIMARY KEY REFERENCES app (id), url TEXT NOT NULL,
            -- json or xml.
            form TEXT NOT NULL,
            -- refuse, allowKnown or allow.
            whenDown TEXT NOT NULL,
            sealed BLOB NOT NULL, revision TEXT NOT NULL, changedAt INTEGER NOT NULL
        ) STRICT;
        """

    /// Migration 17: the subscriptions that entitle to a publication's issues.
    static let subscriptions = """
        -- Product ids, one a line; NULL for none.
        ALTER TABLE publication ADD COLUMN subscriptionProducts TEXT;
        """
}
