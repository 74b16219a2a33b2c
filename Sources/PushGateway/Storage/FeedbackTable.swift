import Foundation
import GRDB
import PushTypes

struct FeedbackTable {
    let database: Database
    let environment: PushEnvironment

    /// Adds an entry. A token that is listed already keeps the later of both times.
    /// - Returns: Whether the token was not listed before.
    func add(_ entry: FeedbackEntry) throws -> Bool {
        if try self.update(entry) { return false }
        try self.database.run(
            "INSERT INTO feedback (environment, topic, token, time) VALUES (?, ?, ?, ?)",
            self.key(entry) + [entry.time.milliseconds]
        )
        return true
    }

    /// Sets the time of a token that is listed, unless the entry has a later one.
    /// - Returns: Whether the token is listed.
    func update(_ entry: FeedbackEntry) throws -> Bool {
        try self.database.run(
            "UPDATE feedback SET time = max(time, ?4) WHERE environment = ?1 AND topic = ?2 AND token = ?3",
            self.key(entry) + [entry.time.milliseconds]
        )
        return self.database.changesCount > 0
    }

    /// Returns the next entries of a topic in the order of their tokens.
    /// - Parameters:
    ///   - token: The last token of the previous page, or `nil` for the first page.
    ///   - latest: The maximum time of the entries. Later ones are left out.
    func page(_ topic: Topic, after token: DeviceToken?, until latest: Timestamp, limit: Int) throws -> [FeedbackEntry]
    {
        try self.entries(
            """
            SELECT * FROM feedback
            WHERE environment = ? AND topic = ? AND token > ? AND time <= ? ORDER BY token LIMIT ?
            """,
            [self.environment.rawValue, topic.name, Data(token?.bytes ?? []), latest.milliseconds, limit]
        )
    }

    /// Returns the newest entries of one topic, or of all topics if `topic` is `nil`. The newest entry is the first.
    func newest(topic: String?, limit: Int) throws -> [FeedbackEntry] {
        try self.entries(
            """
            SELECT * FROM feedback WHERE environment = ?1 AND (?2 IS NULL OR topic = ?2)
            ORDER BY time DESC LIMIT ?3
            """,
            [self.environment.rawValue, topic, max(0, limit)]
        )
    }

    /// Removes an entry, unless its time has changed since it was read.
    func remove(_ entry: FeedbackEntry) throws {
        try self.database.run(
            "DELETE FROM feedback WHERE environment = ? AND topic = ? AND token = ? AND time = ?",
            self.key(entry) + [entry.time.milliseconds]
        )
    }

    func count(_ topic: Topic) throws -> Int {
        try self.database.integer(
            "SELECT count(*) FROM feedback WHERE environment = ? AND topic = ?",
            [self.environment.rawValue, topic.name]
        ) ?? 0
    }

    private func key(_ entry: FeedbackEntry) -> StatementArguments {
        [self.environment.rawValue, entry.topic.name, Data(entry.token.bytes)]
    }

    private func entries(_ sql: String, _ arguments: StatementArguments) throws -> [FeedbackEntry] {
        try self.database.rows(sql, arguments).compactMap { row in
            guard let topic = row.topic("topic"), let token = row.token("token"), let time = row.timestamp("time")
            else { return nil }
            return FeedbackEntry(topic: topic, token: token, time: time)
        }
    }
}
