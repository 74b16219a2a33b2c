extension SQLiteSchema {
    /// The receipts of apps and of the gateway (docs/decisions/0031).
    static let receipts = """
        -- What apps may tell of what became of a notification: 0 nothing, 1 counts only, 2 each device.
        ALTER TABLE app ADD COLUMN receipts INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE notification ADD COLUMN receipts INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX notificationWithReceipts ON notification (app, finishedAt) WHERE receipts = 2;
        -- subject: a device; below zero a token that was named and has no device, or the keyed hash of an installation
        -- and this notification, where only counts are kept. Its times are rounded.
        -- No reference to the notification, as in the ledger of deliveries.
        CREATE TABLE receipt (
            notification INTEGER NOT NULL, subject INTEGER NOT NULL, event INTEGER NOT NULL,
            -- 64 bits of a hash of the receipt's own id.
            id INTEGER NOT NULL,
            action TEXT, source INTEGER NOT NULL, at INTEGER NOT NULL, receivedAt INTEGER NOT NULL,
            PRIMARY KEY (notification, subject, event, id)
        ) STRICT, WITHOUT ROWID;
        -- The sums of the rows above, written with them. The action is empty for all receipts of an event.
        CREATE TABLE receiptCount (
            notification INTEGER NOT NULL, event INTEGER NOT NULL, action TEXT NOT NULL,
            uniqueCount INTEGER NOT NULL, total INTEGER NOT NULL,
            PRIMARY KEY (notification, event, action)
        ) STRICT, WITHOUT ROWID;
        -- How far the events of a gateway have been read.
        CREATE TABLE gatewayCursor (address TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT;
        """
}
