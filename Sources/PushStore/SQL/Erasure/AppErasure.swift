/// Erases an app in steps, each of which is a transaction of bounded size.
struct AppErasure {
    let app: Int64
    let limit: Int
    let database: any SQLConnection

    /// Erases a bounded number of rows. The step that finds no other row deletes the app's own row.
    /// - Returns: Whether more rows remain.
    func step() throws -> Bool {
        if let number = try self.database.integer(
            sql: "SELECT number FROM notification WHERE app = ? LIMIT 1",
            [self.app]
        ) {
            _ = try NotificationErasure(number: number, limit: self.limit, database: self.database).step()
            return true
        }
        if try self.deletePosts() > 0 { return true }
        for table in StoredTable.all where try self.delete(from: table) > 0 { return true }
        try self.forgetKeys()
        try self.database.run(sql: "DELETE FROM app WHERE id = ?", [self.app])
        return false
    }

    private func delete(from table: StoredTable) throws -> Int {
        guard [.app(.atOnce), .app(.inSteps)].contains(table.owner) else { return 0 }
        let key = try self.database.primaryKeyColumns(of: table.name).joined(separator: ", ")
        let sql = """
            DELETE FROM \(table.name) WHERE (\(key)) IN (SELECT \(key) FROM \(table.name) WHERE app = ? LIMIT ?)
            """
        return try self.database.run(sql: sql, [self.app, self.limit])
    }

    /// Deletes records of acknowledged requests to the app's webhooks, at most ``limit``. They have no index by app.
    private func deletePosts() throws -> Int {
        let webhooks = """
            WITH RECURSIVE posted (webhook) AS (
                SELECT min(webhook) FROM webhookPost
                UNION ALL SELECT (SELECT min(webhook) FROM webhookPost WHERE webhook > posted.webhook) FROM posted
                WHERE posted.webhook IS NOT NULL)
            SELECT webhook FROM posted
            WHERE (SELECT app FROM webhookPost WHERE webhook = posted.webhook LIMIT 1) = ?
            """
        guard let webhook = try self.database.row(sql: webhooks, [self.app])?["webhook"] as String? else { return 0 }
        let sql = """
            DELETE FROM webhookPost WHERE webhook = ?1 AND last IN (
                SELECT last FROM webhookPost WHERE webhook = ?1 LIMIT ?2)
            """
        return try self.database.run(sql: sql, [webhook, self.limit])
    }

    /// Removes the app from API keys and people. A key that was limited to this app alone is deleted. A person who was
    /// limited to it stays, without any app.
    private func forgetKeys() throws {
        let own = try self.database.row(sql: "SELECT bundleID FROM app WHERE id = ?", [self.app])
        guard let own, let bundleID = own["bundleID"] as String? else { return }
        for row in try self.database.rows(sql: "SELECT id, apps FROM apiKey WHERE apps IS NOT NULL") {
            guard let id = row["id"] as String?, let apps = row["apps"] as String? else { continue }
            let rest = apps.split(separator: " ").filter { $0 != bundleID }
            guard !rest.isEmpty else {
                try self.database.run(sql: "DELETE FROM apiKey WHERE id = ?", [id])
                continue
            }
            try self.database.update("apiKey", ["apps": rest.joined(separator: " ")], id: id)
        }
        for row in try self.database.rows(sql: "SELECT id, apps FROM person WHERE apps IS NOT NULL") {
            guard let id = row["id"] as String?, let apps = row["apps"] as String? else { continue }
            let rest = apps.split(separator: " ").filter { $0 != bundleID }
            try self.database.update("person", ["apps": rest.joined(separator: " ")], id: id)
        }
    }
}

/// Erases a finished notification and its ledger in steps of bounded size.
struct NotificationErasure {
    let number: Int64
    let limit: Int
    let database: any SQLConnection

    /// Erases a bounded number of rows. The last step deletes the notification itself.
    /// - Returns: Whether more rows remain.
    func step() throws -> Bool {
        // From now on the notification's counters may differ from its deliveries.
        try self.database.run(sql: "UPDATE notification SET isForgotten = 1 WHERE number = ?", self.number)
        for table in StoredTable.all where try self.delete(from: table) >= self.limit { return true }
        try self.database.run(sql: "DELETE FROM notification WHERE number = ?", self.number)
        return false
    }

    private func delete(from table: StoredTable) throws -> Int {
        guard case .notification = table.owner else { return 0 }
        return try table.deleteRows(of: self.number, limit: self.limit, in: self.database)
    }
}

extension StoredTable {
    /// Deletes at most `limit` rows of a notification.
    /// - Returns: The number of deleted rows.
    func deleteRows(of notification: Int64, limit: Int, in database: any SQLConnection) throws -> Int {
        // The first column of the key is the notification.
        let key = try database.primaryKeyColumns(of: self.name).dropFirst().joined(separator: ", ")
        let sql = """
            DELETE FROM \(self.name) WHERE notification = ?1 AND (\(key)) IN (
                SELECT \(key) FROM \(self.name) WHERE notification = ?1 LIMIT ?2)
            """
        return try database.run(sql: sql, notification, Int64(limit))
    }
}
