extension SQLiteSchema {
    /// The final state of pushes that were sent and whose response was lost. What had ended before keeps its state.
    static let unknown = """
        ALTER TABLE notification ADD COLUMN unknown INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE shard ADD COLUMN unknown INTEGER NOT NULL DEFAULT 0;
        -- 1 once the response to a try was lost.
        ALTER TABLE retry ADD COLUMN mayHaveArrived INTEGER NOT NULL DEFAULT 0;
        """
}
