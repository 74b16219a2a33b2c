import Foundation
import GRDB
import PushTypes

/// Writes and reads the history of tokens, and announces it to webhooks.
enum TokenEventWriter {
    /// Adds an event.
    /// - Parameter since: the time from which the push service calls the token invalid, for a withheld deactivation.
    static func add(
        _ action: TokenEventRecord.Action,
        app: Int64,
        device: Int64,
        token: DeviceToken,
        environment: PushEnvironment,
        reason: String? = nil,
        notification: UUID? = nil,
        since: Timestamp? = nil,
        at: Timestamp,
        in database: Database
    ) throws {
        try database.run(
            """
            INSERT INTO tokenEvent (app, device, token, environment, action, reason, notification, since, at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                app, device, Data(token.bytes), environment.code, action.rawValue, reason, notification?.uuidString,
                since?.milliseconds, at.milliseconds,
            ]
        )
    }

    /// Returns the latest id; 0 before the first event.
    static func last(in database: Database) throws -> Int64 {
        try Int64.fetchOne(database.cachedStatement(sql: "SELECT max(id) FROM tokenEvent")) ?? 0
    }

    /// The most token events of one block: a post carries whole blocks.
    private static let maximumAnnounced: Int64 = 4096

    /// Adds a block with the events after `last` for the app's webhooks, if any of them wants token events.
    static func announce(after last: Int64, app: Int64, at: Timestamp, in database: Database) throws {
        let latest = try Self.last(in: database)
        guard latest > last, try SQLiteStore.wants(.token, app: app, in: database) else { return }
        var announced = last
        while announced < latest {
            let end = latest - announced > Self.maximumAnnounced ? announced + Self.maximumAnnounced : latest
            try database.execute(
                sql: """
                    INSERT INTO eventBlock (app, kind, at, events, firstToken, lastToken)
                    VALUES (?, 'token', ?, x'', ?, ?)
                    """,
                arguments: [app, at.milliseconds, announced + 1, end]
            )
            announced = end
        }
    }

    /// Returns the readable events of an app in a range of ids.
    static func fetch(_ ids: ClosedRange<Int64>, app: Int64, in database: Database) throws -> [TokenEventRecord] {
        try Row.fetchAll(
            database,
            sql: "SELECT * FROM tokenEvent WHERE id BETWEEN ? AND ? AND app = ? ORDER BY id",
            arguments: [ids.lowerBound, ids.upperBound, app]
        ).compactMap(Self.readable)
    }

    /// Reads an event; `nil` for one that cannot be read, which must not block those after it.
    static func readable(_ row: Row) throws -> TokenEventRecord? {
        do { return try Self.record(row) } catch is DamagedRow { return nil }
    }

    /// Reads an event's row.
    /// - Throws: ``DamagedRow``.
    static func record(_ row: Row) throws -> TokenEventRecord {
        guard let id = row["id"] as Int64?, let app = row["app"] as Int64?, let device = row["device"] as Int64?,
            let token = row.token("token"), let environment = row.environment("environment"),
            let action = (row["action"] as String?).flatMap(TokenEventRecord.Action.init(rawValue:)),
            let at = row.time("at")
        else { throw DamagedRow(table: "tokenEvent") }
        return TokenEventRecord(
            id: id,
            app: app,
            device: device,
            token: token,
            environment: environment,
            action: action,
            reason: row["reason"],
            notification: row.uuid("notification"),
            at: at
        )
    }
}
