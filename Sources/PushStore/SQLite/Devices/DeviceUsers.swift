import GRDB
import PushTypes

/// The users that devices had before their present one, within a transaction. A delivery is its user's of the time.
struct DeviceUsers {
    /// The name of an erased user to whom something was sent that goes once notifications in progress have ended. No user
    /// has it.
    static let erased = ""

    let app: Int64
    let database: Database

    /// Notes the end of the time for which a device was a user's, or nobody's.
    /// - Parameter now: The later clock, as of the pages.
    func ended(_ user: String?, of device: Int64, at now: Timestamp) throws {
        // A device without a user before its first one is that one's from the beginning. A clock that is behind the last
        // change puts no user before an earlier one.
        let sql = """
            INSERT INTO deviceUser (device, until, app, user)
            SELECT ?1, iif(last > ?2, last + 1, ?2), ?3, nullif(?4, '')
            FROM (SELECT max(until) AS last FROM deviceUser WHERE device = ?1)
            WHERE ?4 IS NOT NULL OR last IS NOT NULL
            ON CONFLICT (device, until) DO NOTHING
            """
        try self.database.run(sql: sql, [device, now.milliseconds, self.app, user])
    }

    /// Notes the end of the time for which a device was its user's, because it is removed.
    func removed(_ device: Int64, at now: Timestamp) throws {
        let row = try self.database.row(sql: "SELECT user FROM device WHERE id = ? AND hasLeft = 0", [device])
        guard let row else { return }
        try self.ended(row["user"], of: device, at: now)
    }

    /// Returns the times for which devices were a user's, the present ones first.
    func periods(of user: String, limit: Int) throws -> [UserPeriod] {
        let sql = """
            SELECT * FROM (
            SELECT id AS device, (SELECT max(until) FROM deviceUser WHERE deviceUser.device = device.id) AS since,
                NULL AS until
            FROM device WHERE app = ?1 AND user = ?2 AND hasLeft = 0
            UNION ALL SELECT device, \(Self.since), until FROM deviceUser WHERE app = ?1 AND user = ?2)
            ORDER BY until IS NOT NULL, until DESC LIMIT ?3
            """
        return try self.database.rows(sql: sql, [self.app, user, limit]).compactMap { row in
            guard let device = row["device"] as Int64? else { return nil }
            return UserPeriod(device: device, since: row.time("since"), until: row.time("until"))
        }
    }

    /// Returns ended periods of a user.
    func ended(of user: String, limit: Int = .max) throws -> [UserPeriod] {
        let sql = "SELECT device, \(Self.since), until FROM deviceUser WHERE app = ? AND user = ? LIMIT ?"
        return try self.database.rows(sql: sql, [self.app, user, limit]).compactMap { row in
            guard let device = row["device"] as Int64? else { return nil }
            return UserPeriod(device: device, since: row.time("since"), until: row.time("until"))
        }
    }

    /// Returns the end of the last period of a device before its present user; `nil` if there is none.
    func lastEnd(of device: Int64) throws -> Timestamp? {
        try self.database.time(sql: "SELECT max(until) FROM deviceUser WHERE device = ?", [device])
    }

    /// Forgets whose an ended period was. The time stays, so that it becomes nobody else's.
    /// - Parameter isErased: Whether nothing is left that was sent in it.
    func forget(_ period: UserPeriod, isErased: Bool) throws {
        let sql = "UPDATE deviceUser SET user = ? WHERE device = ? AND until = ?"
        let name = isErased ? nil : Self.erased
        try self.database.run(sql: sql, [name, period.device, period.until?.milliseconds])
    }

    private static let since = """
        (SELECT max(earlier.until) FROM deviceUser AS earlier
            WHERE earlier.device = deviceUser.device AND earlier.until < deviceUser.until) AS since
        """

    /// The time at which a delivery was sent, which decides whose it is: that of its page, or else its end.
    ///
    /// One that ended without another try, as the device had another user or none by then, is that of its first try, or of
    /// the notification's opening if there was none.
    static let sentAt = """
        CASE WHEN delivery.reason IN (SELECT id FROM reason WHERE text IN (\(Self.untried)))
            THEN \(Self.firstTry("delivery"))
            ELSE coalesce((SELECT min(page.sentAt) FROM page
                WHERE page.notification = delivery.notification AND page.answeredAt = delivery.at), delivery.at) END
        """

    /// The reasons of the ends without another try.
    private static let untried = [EndedRetry.Cause.leftAudience, .cancelled, .deviceRemoved]
        .map { "'\($0.rawValue)'" }.joined(separator: ", ")

    /// Returns the time of the first try of a recipient in a table, or that of its notification's opening if there was none.
    static func firstTry(_ table: String) -> String {
        """
        coalesce((SELECT min(firstAt) FROM attempt
            WHERE attempt.notification = \(table).notification AND attempt.recipient = \(table).recipient),
            (SELECT coalesce(openedAt, createdAt) FROM notification AS beginning
                WHERE beginning.number = \(table).notification))
        """
    }
}

extension SQLiteStore {
    package func periods(app: Int64, user: String, limit: Int) async throws -> [UserPeriod] {
        try await self.database.query { try DeviceUsers(app: app, database: $0).periods(of: user, limit: limit) }
    }
}
