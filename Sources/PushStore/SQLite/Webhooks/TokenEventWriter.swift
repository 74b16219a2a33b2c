import Foundation
import GRDB
import PushTypes

/// Writes the history of tokens within one transaction, and announces it to webhooks.
struct TokenEventWriter {
    let app: Int64
    let now: Timestamp
    let database: Database
    /// The latest event before the transaction.
    private let last: Int64

    init(app: Int64, now: Timestamp, in database: Database) throws {
        (self.app, self.now, self.database) = (app, now, database)
        self.last = try Self.last(in: database)
    }

    /// Adds an event.
    /// - Parameter since: The time from which the push service calls the token invalid, for a withheld deactivation.
    func add(
        _ action: TokenEventRecord.Action,
        device: Int64,
        token: DeviceToken,
        environment: PushEnvironment,
        reason: String? = nil,
        notification: UUID? = nil,
        since: Timestamp? = nil
    ) throws {
        // A text of its own, as a campaign may add one for each recipient.
        let sql = """
            INSERT INTO tokenEvent (app, device, token, environment, action, reason, notification, since, at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        let arguments: StatementArguments = [
            self.app, device, Data(token.bytes), environment.code, action.rawValue, reason, notification?.uuidString,
            since?.milliseconds, self.now.milliseconds,
        ]
        try self.database.run(sql: sql, arguments)
    }

    /// Returns the latest id; 0 before the first event.
    private static func last(in database: Database) throws -> Int64 {
        try database.integer(sql: "SELECT max(id) FROM tokenEvent") ?? 0
    }

    /// The most token events of one block: a post carries whole blocks.
    private static let maximumAnnounced: Int64 = 4096

    /// Adds a block with the transaction's events for the app's webhooks, if any of them wants token events.
    func announce() throws {
        let latest = try Self.last(in: self.database)
        guard latest > self.last, try SQLiteStore.wants(.token, app: self.app, in: self.database) else { return }
        let sql = """
            INSERT INTO eventBlock (app, kind, at, events, firstToken, lastToken) VALUES (?, 'token', ?, x'', ?, ?)
            """
        for first in stride(from: self.last + 1, through: latest, by: Int(Self.maximumAnnounced)) {
            let end = min(latest, first + Self.maximumAnnounced - 1)
            try self.database.run(sql: sql, self.app, self.now.milliseconds, first, end)
        }
    }

    /// Returns the readable events of an app in a range of ids.
    static func fetch(_ ids: ClosedRange<Int64>, app: Int64, in database: Database) throws -> [TokenEventRecord] {
        let sql = "SELECT * FROM tokenEvent WHERE id BETWEEN ? AND ? AND app = ? ORDER BY id"
        let rows = try database.rows(sql: sql, [ids.lowerBound, ids.upperBound, app])
        return try rows.compactMap { try $0.readable(Self.record) }
    }

    /// Reads an event's row.
    /// - Throws: ``DamagedRow``.
    static func record(_ row: Row) throws -> TokenEventRecord {
        guard let id = row["id"] as Int64?, let app = row["app"] as Int64?, let device = row["device"] as Int64?,
            let token = row.token("token"), let environment = row.environment("environment"),
            let action = row.value("action") as TokenEventRecord.Action?,
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
