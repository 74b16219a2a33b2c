extension SQLiteSchema {
    /// The kinds of tokens (docs/decisions/0021).
    ///
    /// A stored device is of the kind alert (0) until a registration says otherwise, or the ledger: an accepted push proves
    /// the kind of its token. A notification without a kind was
    /// accepted before there were kinds, and goes to devices of any.
    static let tokenKinds = """
        ALTER TABLE device ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;
        -- The app's id of the Live Activity to which the token belongs; empty for other kinds.
        ALTER TABLE device ADD COLUMN activity TEXT NOT NULL DEFAULT '';
        ALTER TABLE notification ADD COLUMN tokenKind INTEGER;
        UPDATE notification SET tokenKind = 0 WHERE finishedAt IS NULL AND pushType IN ('alert', 'background', 'mdm');
        -- The latest million recipients tell, so that a large ledger does not take long. A device that has had several
        -- tokens tells nothing.
        UPDATE device SET kind = proven.kind FROM (
            SELECT iif(recipient > 0, recipient, device) AS device, kind, max(number) FROM (
                SELECT number, sum(accepted) OVER (ORDER BY number DESC) AS total, CASE pushType
                    WHEN 'voip' THEN 1 WHEN 'complication' THEN 2 WHEN 'fileprovider' THEN 3 WHEN 'location' THEN 4
                    WHEN 'pushtotalk' THEN 5 WHEN 'widgets' THEN 8 WHEN 'controls' THEN 9
                    ELSE iif(instr(CAST(payload AS TEXT), '"event":"start"'), 6, 7) END AS kind
                FROM notification WHERE pushType NOT IN ('alert', 'background', 'mdm') AND accepted > 0
            ) JOIN delivery ON delivery.notification = number AND delivery.state = 1
            WHERE total <= 1000000
                AND iif(recipient > 0, recipient, device) NOT IN (
                    SELECT device FROM tokenEvent WHERE action = 'replaced')
            GROUP BY 1
        ) AS proven WHERE device.id = proven.device;
        DROP INDEX deviceByInstallation;
        CREATE UNIQUE INDEX deviceByInstallation ON device (app, installation, environment, kind, activity)
            WHERE installation IS NOT NULL;
        DROP INDEX deviceByTimeZone;
        CREATE INDEX deviceByTimeZone ON device (app, timeZone, isActive, kind);
        CREATE INDEX deviceByKind ON device (app, kind, isActive) WHERE kind != 0;
        CREATE INDEX deviceByActivity ON device (app, activity) WHERE activity != '';
        """
}
