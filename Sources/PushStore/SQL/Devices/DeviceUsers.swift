package import ProviderModel
import PushTypes

/// Reads and writes the periods in which devices belonged to former users, within a transaction. A delivery belongs to
/// the user who had the device at the time of the delivery.
struct DeviceUsers {
    /// The name that replaces an erased user in a period whose deliveries are kept until the notifications in progress
    /// have finished. No user has this name.
    static let erased = ""

    let app: Int64
    let database: any SQLConnection

    /// Records the end of the period in which a device belonged to a user or, with `nil`, to no user.
    /// - Parameter now: The time of the change, by the later of the wall and steady clocks, which also dates pages.
    func ended(_ user: String?, of device: Int64, at now: Timestamp) throws {
        // The time before a device's first user counts as that user's. If the clock is behind the last change, the new
        // end is set after it, so that the periods keep their order.
        let sql = """
            INSERT INTO deviceUser (device, until, app, user)
            SELECT ?1, iif(last > ?2, last + 1, ?2), ?3, nullif(?4, '')
            FROM (SELECT max(until) AS last FROM deviceUser WHERE device = ?1) AS earlier
            WHERE ?4 IS NOT NULL OR last IS NOT NULL
            ON CONFLICT (device, until) DO NOTHING
            """
        try self.database.run(sql: sql, [device, now.milliseconds, self.app, user])
    }

    /// Ends the period of a device's user, because the device is being removed.
    func removed(_ device: Int64, at now: Timestamp) throws {
        let row = try self.database.row(sql: "SELECT user FROM device WHERE id = ? AND hasLeft = 0", [device])
        guard let row else { return }
        try self.ended(row["user"], of: device, at: now)
    }

    /// Returns the periods in which devices belonged to a user. Periods that have not ended come first.
    func periods(of user: String, limit: Int) throws -> [UserPeriod] {
        let sql = """
            SELECT * FROM (
            SELECT id AS device, (SELECT max(until) FROM deviceUser WHERE deviceUser.device = device.id) AS since,
                NULL AS until
            FROM device WHERE app = ?1 AND user = ?2 AND hasLeft = 0
            UNION ALL SELECT device, \(Self.since), until FROM deviceUser WHERE app = ?1 AND user = ?2) AS period
            ORDER BY until IS NOT NULL, until DESC LIMIT ?3
            """
        return try self.database.rows(sql: sql, [self.app, user, limit]).compactMap { row in
            guard let device = row["device"] as Int64? else { return nil }
            return UserPeriod(device: device, since: row.time("since"), until: row.time("until"))
        }
    }

    func ended(of user: String, limit: Int = .max) throws -> [UserPeriod] {
        let sql = "SELECT device, \(Self.since), until FROM deviceUser WHERE app = ? AND user = ? LIMIT ?"
        return try self.database.rows(sql: sql, [self.app, user, limit]).compactMap { row in
            guard let device = row["device"] as Int64? else { return nil }
            return UserPeriod(device: device, since: row.time("since"), until: row.time("until"))
        }
    }

    /// Returns the end of the period before the current one, or `nil` if the device had no earlier period.
    func lastEnd(of device: Int64) throws -> Timestamp? {
        try self.database.time(sql: "SELECT max(until) FROM deviceUser WHERE device = ?", [device])
    }

    /// Removes the user's name from an ended period, which stays, so that no other user gets its deliveries.
    /// - Parameter isErased: Whether all deliveries of the period have been erased.
    func forget(_ period: UserPeriod, isErased: Bool) throws {
        let sql = "UPDATE deviceUser SET user = ? WHERE device = ? AND until = ?"
        let name = isErased ? nil : Self.erased
        try self.database.run(sql: sql, [name, period.device, period.until?.milliseconds])
    }

    private static let since = """
        (SELECT max(earlier.until) FROM deviceUser AS earlier
            WHERE earlier.device = deviceUser.device AND earlier.until < deviceUser.until) AS since
        """

    /// The SQL expression for the time at which a delivery was sent, which determines the user to whom it belongs. It
    /// is the time of the delivery's page or, without a page, of its final state.
    ///
    /// A delivery that ended without another attempt has the time of its first attempt or, without one, of the
    /// notification's opening, because the device may have changed its user before the final state.
    static let sentAt = """
        CASE WHEN delivery.reason IN (SELECT id FROM reason WHERE text IN (\(Self.untried)))
            THEN \(Self.firstTry("delivery"))
            ELSE coalesce((SELECT min(page.sentAt) FROM page
                WHERE page.notification = delivery.notification AND page.answeredAt = delivery.at), delivery.at) END
        """

    /// The reasons of final states that are written without another attempt.
    private static let untried = [EndingCause.leftAudience, .cancelled, .deviceRemoved]
        .map { "'\($0.rawValue)'" }.joined(separator: ", ")

    /// Returns the SQL for the time of a recipient's first attempt or, without one, of the notification's opening.
    static func firstTry(_ table: String) -> String {
        """
        coalesce((SELECT min(firstAt) FROM attempt
            WHERE attempt.notification = \(table).notification AND attempt.recipient = \(table).recipient),
            (SELECT coalesce(openedAt, createdAt) FROM notification AS beginning
                WHERE beginning.number = \(table).notification))
        """
    }
}

extension SQLStore {
    package func periods(app: Int64, user: String, limit: Int) async throws -> [UserPeriod] {
        try await self.database.query { try DeviceUsers(app: app, database: $0).periods(of: user, limit: limit) }
    }
}
