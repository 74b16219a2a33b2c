extension SQLiteSchema {
    /// The kinds of tokens (docs/decisions/0021).
    ///
    /// A stored device is of the kind alert (0) until a registration says otherwise. A notification without a kind was
    /// accepted before there were kinds, and goes to devices of any.
    static let tokenKinds = """
        ALTER TABLE device ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;
        -- The app's id of the Live Activity to which the token belongs; empty for other kinds.
        ALTER TABLE device ADD COLUMN activity TEXT NOT NULL DEFAULT '';
        ALTER TABLE notification ADD COLUMN tokenKind INTEGER;
        UPDATE notification SET tokenKind = 0 WHERE finishedAt IS NULL AND pushType IN ('alert', 'background', 'mdm');
        DROP INDEX deviceByInstallation;
        CREATE UNIQUE INDEX deviceByInstallation ON device (app, installation, environment, kind, activity)
            WHERE installation IS NOT NULL;
        DROP INDEX deviceByTimeZone;
        CREATE INDEX deviceByTimeZone ON device (app, timeZone, isActive, kind);
        CREATE INDEX deviceByKind ON device (app, kind, isActive) WHERE kind != 0;
        CREATE INDEX deviceByActivity ON device (app, activity) WHERE activity != '';
        """
}
