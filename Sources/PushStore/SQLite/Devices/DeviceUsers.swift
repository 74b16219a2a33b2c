import GRDB
import PushTypes

/// The users that devices had before their present one, within a transaction. A delivery is its user's of the time.
struct DeviceUsers {
    let app: Int64
    let database: Database

    /// Notes the end of the time for which a device was a user's, or nobody's.
    func ended(_ user: String?, of device: Int64, at now: Timestamp) throws {
        // A device without a user before its first one is that one's from the beginning.
        let sql = """
            INSERT INTO deviceUser (device, until, app, user) SELECT ?1, ?2, ?3, ?4
            WHERE ?4 IS NOT NULL OR EXISTS (SELECT 1 FROM deviceUser WHERE device = ?1)
            ON CONFLICT (device, until) DO NOTHING
            """
        try self.database.run(sql: sql, [device, now.milliseconds, self.app, user])
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

    /// Returns an ended period of a user; `nil` if there is none.
    func ended(of user: String) throws -> UserPeriod? {
        let sql = "SELECT device, \(Self.since), until FROM deviceUser WHERE app = ? AND user = ? LIMIT 1"
        guard let row = try self.database.row(sql: sql, [self.app, user]), let device = row["device"] as Int64?
        else { return nil }
        return UserPeriod(device: device, since: row.time("since"), until: row.time("until"))
    }

    /// Returns the end of the last period of a device before its present user; `nil` if there is none.
    func lastEnd(of device: Int64) throws -> Timestamp? {
        try self.database.time(sql: "SELECT max(until) FROM deviceUser WHERE device = ?", [device])
    }

    /// Forgets whose an ended period was. The time stays, so that it becomes nobody else's.
    func forget(_ period: UserPeriod) throws {
        let sql = "UPDATE deviceUser SET user = NULL WHERE device = ? AND until = ?"
        try self.database.run(sql: sql, [period.device, period.until?.milliseconds])
    }

    private static let since = """
        (SELECT max(earlier.until) FROM deviceUser AS earlier
            WHERE earlier.device = deviceUser.device AND earlier.until < deviceUser.until) AS since
        """

    /// The time at which a delivery was sent, which decides whose it is: that of its page, or else its end.
    static let sentAt = """
        coalesce((SELECT min(page.sentAt) FROM page
            WHERE page.notification = delivery.notification AND page.answeredAt = delivery.at), delivery.at)
        """
}

extension SQLiteStore {
    package func periods(app: Int64, user: String, limit: Int) async throws -> [UserPeriod] {
        try await self.database.query { try DeviceUsers(app: app, database: $0).periods(of: user, limit: limit) }
    }
}
