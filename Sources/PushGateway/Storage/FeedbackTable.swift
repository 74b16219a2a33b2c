import Foundation
import GRDB
import PushTypes
import PushWire

/// An app that is gone from a device, for the feedback service to tell (reference 6).
struct FeedbackEntry: Hashable, Sendable {
    var topic: Topic
    var token: DeviceToken
    /// When the app was found to be gone; the wire knows whole seconds.
    var time: Timestamp

    var tuple: FeedbackTuple { FeedbackTuple(seconds: UInt32(clamping: self.time.seconds), token: self.token) }
}

/// The rows of one environment: what providers have not read yet.
struct FeedbackTable {
    let database: Database
    let environment: PushEnvironment

    /// Whether the token was not listed before; if it was, the later time stands.
    func add(_ entry: FeedbackEntry) throws -> Bool {
        if try self.update(entry) { return false }
        try self.database.execute(
            sql: "INSERT INTO feedback (environment, topic, token, time) VALUES (?, ?, ?, ?)",
            arguments: [
                self.environment.rawValue, entry.topic.name, Data(entry.token.bytes), entry.time.milliseconds,
            ]
        )
        return true
    }

    /// Sets the time of a token that is listed. Whether it is.
    func update(_ entry: FeedbackEntry) throws -> Bool {
        try self.database.execute(
            sql: "UPDATE feedback SET time = max(time, ?) WHERE environment = ? AND topic = ? AND token = ?",
            arguments: [
                entry.time.milliseconds, self.environment.rawValue, entry.topic.name, Data(entry.token.bytes),
            ]
        )
        return self.database.changesCount > 0
    }

    /// The next entries of a topic in the order of their tokens.
    /// - Parameters:
    ///   - token: the last one of the page before.
    ///   - latest: entries later than this are not shown.
    func page(_ topic: Topic, after token: DeviceToken?, until latest: Timestamp, limit: Int) throws -> [FeedbackEntry]
    {
        try Row.fetchAll(
            self.database,
            sql: """
                SELECT token, time FROM feedback
                WHERE environment = ? AND topic = ? AND token > ? AND time <= ? ORDER BY token LIMIT ?
                """,
            arguments: [
                self.environment.rawValue, topic.name, Data(token?.bytes ?? []), latest.milliseconds, limit,
            ]
        ).compactMap { row in
            guard let token = (row["token"] as Data?).flatMap({ DeviceToken(bytes: Array($0)) }),
                let time = row["time"] as Int64?
            else { return nil }
            return FeedbackEntry(topic: topic, token: token, time: Timestamp(milliseconds: time))
        }
    }

    /// Newest first.
    func newest(topic: String?, limit: Int) throws -> [FeedbackEntry] {
        try Row.fetchAll(
            self.database,
            sql: """
                SELECT topic, token, time FROM feedback WHERE environment = ?1 AND (?2 IS NULL OR topic = ?2)
                ORDER BY time DESC LIMIT ?3
                """,
            arguments: [self.environment.rawValue, topic, max(0, limit)]
        ).compactMap { row in
            guard let topic = (row["topic"] as String?).flatMap({ Topic($0) }),
                let token = (row["token"] as Data?).flatMap({ DeviceToken(bytes: Array($0)) }),
                let time = row["time"] as Int64?
            else { return nil }
            return FeedbackEntry(topic: topic, token: token, time: Timestamp(milliseconds: time))
        }
    }

    /// Removes an entry, unless its time has changed since.
    func remove(_ entry: FeedbackEntry) throws {
        try self.database.execute(
            sql: "DELETE FROM feedback WHERE environment = ? AND topic = ? AND token = ? AND time = ?",
            arguments: [
                self.environment.rawValue, entry.topic.name, Data(entry.token.bytes), entry.time.milliseconds,
            ]
        )
    }

    func count(_ topic: Topic) throws -> Int {
        try Int.fetchOne(
            self.database,
            sql: "SELECT count(*) FROM feedback WHERE environment = ? AND topic = ?",
            arguments: [self.environment.rawValue, topic.name]
        ) ?? 0
    }
}
