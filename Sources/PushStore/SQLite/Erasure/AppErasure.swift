import Foundation
import GRDB
import PushTypes

/// The erasure of an app, one bounded step within a transaction at a time.
struct AppErasure {
    let app: Int64
    /// The most rows of one step.
    let limit: Int
    let database: Database

    /// Erases some rows. The app's own row goes in the transaction that finds no other.
    /// - Returns: `true` if more remain.
    func step() throws -> Bool {
        if let number = try self.database.integer(
            sql: "SELECT number FROM notification WHERE app = ? LIMIT 1",
            [self.app]
        ) {
            _ = try NotificationErasure(number: number, limit: self.limit, database: self.database).step()
            return true
        }
        if try self.deletePosts() > 0 { return true }
        for table in try self.tables() where try self.delete(from: table) > 0 { return true }
        try self.forgetKeys()
        try self.database.run(sql: "DELETE FROM app WHERE id = ?", [self.app])
        return false
    }

    /// A table with a row for each of something that an app has.
    private struct Table {
        var name: String
        var key: String
    }

    /// Returns the tables that have a column for the app. Those of later versions are found as well.
    private func tables() throws -> [Table] {
        let sql = """
            SELECT list.name AS name, list.wr AS hasNoRowID FROM pragma_table_list AS list
            JOIN pragma_table_info(list.name) AS info ON info.name = 'app'
            WHERE list.schema = 'main' AND list.type = 'table' AND list.name NOT IN ('erasure', 'notification', 'webhookPost')
            """
        return try self.database.rows(sql: sql).compactMap { row -> Table? in
            guard let name = row["name"] as String? else { return nil }
            guard row["hasNoRowID"] as Bool? == true else { return Table(name: name, key: "rowid") }
            let columns = "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk"
            let key = try self.database.rows(sql: columns, [name]).compactMap { $0["name"] as String? }
            return Table(name: name, key: key.joined(separator: ", "))
        }
    }

    private func delete(from table: Table) throws -> Int {
        let sql = """
            DELETE FROM \(table.name) WHERE (\(table.key)) IN (
                SELECT \(table.key) FROM \(table.name) WHERE app = ? LIMIT ?)
            """
        return try self.database.run(sql: sql, [self.app, self.limit])
    }

    /// Deletes acknowledged posts. They have no index by app: the first one of each webhook tells its app.
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

    /// Takes the app from API keys, and removes those that were for nothing else. People who were stay without apps.
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

/// The erasure of a notification that has ended, with its ledger.
struct NotificationErasure {
    /// The tables of the ledger that may have many rows, and what tells the rows of a notification apart.
    private static let tables =
        [
            ("shard", "number"), ("retry", "recipient"), ("tokenHad", "token"), ("badgeStep", "holder"),
            ("target", "position"),
        ] + Self.ledger

    /// Those that a notification which has ended keeps, and that no reference of the database deletes with it.
    static let ledger = [
        ("delivery", "recipient"), ("receipt", "subject, event, id"), ("receiptCount", "event, action"),
        ("page", "answeredAt, first"), ("attempt", "recipient, number"),
    ]

    let number: Int64
    let limit: Int
    let database: Database

    /// Erases some rows, and the notification after its last one.
    /// - Returns: `true` if more remain.
    func step() throws -> Bool {
        // Its counters need not add up any more.
        try self.database.run(sql: "UPDATE notification SET isForgotten = 1 WHERE number = ?", self.number)
        for (table, key) in Self.tables {
            let sql = """
                DELETE FROM \(table) WHERE notification = ?1 AND (\(key)) IN (
                    SELECT \(key) FROM \(table) WHERE notification = ?1 LIMIT ?2)
                """
            if try self.database.run(sql: sql, self.number, Int64(self.limit)) >= self.limit { return true }
        }
        try self.database.run(sql: "DELETE FROM notification WHERE number = ?", self.number)
        return false
    }
}
