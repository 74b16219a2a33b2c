import Foundation
import GRDB
import PushTypes

/// The changes of registrations that notifications in progress have to know of, within one transaction.
///
/// A recipient is a device, by its id. While a notification of the app is in progress, a deleted device keeps its id
/// for its return, and a token that another device takes keeps what it has had (docs/decisions/0018).
struct RegistrationChanges {
    let app: Int64
    let database: Database

    /// Returns `true` if a notification of the app has been opened and has not ended.
    func isWatched() throws -> Bool {
        let sql = """
            SELECT 1 FROM notification INDEXED BY notificationWatching
            WHERE app = ? AND finishedAt IS NULL AND openedAfter IS NOT NULL LIMIT 1
            """
        return try self.database.hasRow(sql: sql, self.app)
    }

    /// The expression for the change that made a device its user's, as the index `deviceByUserSince` has it.
    ///
    /// It is the reading of the registration clock then. A change from before migration 33 is below all readings, in the order
    /// of the devices' ids. A device that has the user from another one has the number from there, so that an erasure that was
    /// under way at the upgrade takes both or neither.
    static let userChange = "coalesce(userSince, id - (1 << 62))"

    /// Returns the reading of the registration clock.
    static func clock(in database: Database) throws -> Int64 {
        try database.integer(sql: "SELECT number FROM registrationClock") ?? 0
    }

    /// Removes a device, or hides it until no notification needs it any more.
    /// - Parameter isReadable: Whether its row can be read; otherwise it is removed at once.
    func leave(_ device: Int64, isReadable: Bool) throws {
        guard isReadable, try self.isWatched() else { return try Self.delete(device, in: self.database) }
        try self.hide(device, clock: try self.tick())
    }

    /// Hides a device. One that was inactive is not a recipient, and is only kept for what it has had (2).
    private func hide(_ device: Int64, clock: Int64) throws {
        let sql = """
            UPDATE device SET hasLeft = CASE isActive WHEN 1 THEN 1 ELSE 2 END, isActive = 0, churn = ?
            WHERE id = ? AND hasLeft = 0
            """
        try self.database.run(sql: sql, [clock, device])
    }

    /// Erases a device, and all that tells whose it was. While a notification in progress counts it, its id stays.
    func erase(_ device: Int64) throws {
        try self.database.run(sql: "UPDATE device SET twin = NULL WHERE twin = ?1 OR id = ?1", [device])
        for table in StoredTable.names(with: .device) {
            try self.database.run(sql: "DELETE FROM \(table) WHERE device = ?", [device])
        }
        guard try self.isWatched() else { return try Self.delete(device, in: self.database) }
        try self.hide(device, clock: try self.tick())
        let sql = """
            UPDATE device SET token = randomblob(32), installation = NULL, user = NULL, locale = NULL, appVersion = NULL,
                versionNumber = NULL, capabilities = 0, attributes = NULL, activity = '', optOuts = NULL,
                quietHours = NULL, encryptionKeyID = NULL, encryptionKey = NULL
            WHERE id = ?
            """
        try self.database.run(sql: sql, [device])
    }

    /// Notes that the device has changed for notifications in progress.
    func changed(_ device: Int64) throws {
        guard try self.isWatched() else { return }
        try self.database.run(sql: "UPDATE device SET churn = ? WHERE id = ?", [try self.tick(), device])
    }

    /// Brings a device back that had left. Notifications that have passed it meanwhile send to it at once.
    func returned(_ device: Int64) throws {
        try self.database.run(sql: "UPDATE device SET hasLeft = 0, churn = ? WHERE id = ?", [try self.tick(), device])
        let sql = """
            UPDATE retry SET dueAt = 0 WHERE recipient = ?1
                AND (dueAt = \(RetryQueue.departed) OR dueAt >= \(RetryQueue.afterOthers)) AND notification IN (
                    SELECT number FROM notification INDEXED BY notificationWatchingBulk
                    WHERE app = ?2 AND lane = 1 AND finishedAt IS NULL AND openedAfter IS NOT NULL
                    UNION ALL SELECT notification FROM retry INDEXED BY retryByApp
                    WHERE lane = 0 AND app = ?2 AND lease IS NULL AND recipient = ?1 AND dueAt IN (
                        \(RetryQueue.departed), \(RetryQueue.afterOthers), \(RetryQueue.afterShards)))
            """
        try self.database.run(sql: sql, [device, self.app])
    }

    /// Merges a device into another, which has had what either had.
    ///
    /// Devices of two installations stay apart: the one that goes can come back with another token, and the one that is
    /// kept has had what the token has had.
    func merge(_ gone: Int64, into kept: Int64) throws {
        guard try self.isWatched() else { return try Self.delete(gone, in: self.database) }
        let clock = try self.tick()
        try self.hide(gone, clock: clock)
        let staysItself = try self.hasOtherInstallation(gone, than: kept)
        try self.vacate(gone, keepsInstallation: staysItself)
        try self.link(kept, to: gone, since: clock, countsAll: !staysItself)
    }

    /// Returns `true` if two devices are of two installations.
    private func hasOtherInstallation(_ device: Int64, than other: Int64) throws -> Bool {
        let sql = """
            SELECT 1 FROM device JOIN device AS other ON other.id = ?2
            WHERE device.id = ?1 AND device.installation != other.installation
            """
        return try self.database.hasRow(sql: sql, [device, other])
    }

    /// Gives the installation of a device that has left to another, which has had what either had.
    func takeInstallation(from left: Int64, to device: Int64) throws {
        try self.database.run(sql: "UPDATE device SET installation = NULL WHERE id = ?", [left])
        guard try self.isWatched() else { return }
        try self.link(device, to: left, since: try self.tick(), countsAll: true)
    }

    /// Frees the token and the installation of a device that has left. The column of the token cannot be empty.
    private func vacate(_ device: Int64, keepsInstallation: Bool) throws {
        let row = try self.database.row(sql: "SELECT token, environment FROM device WHERE id = ?", [device])
        if let row, let token = row.token("token"), let environment = row.environment("environment") {
            try self.gaveUp(token, environment, device: device)
        }
        try self.unpair(device)
        // Random, so that it cannot be registered.
        let sql = """
            UPDATE device SET token = randomblob(32), installation = CASE WHEN ? THEN installation END WHERE id = ?
            """
        try self.database.run(sql: sql, [keepsInstallation, device])
    }

    /// Separates a device that gives its token up from the one that has it in the other environment, which awaits it.
    private func unpair(_ device: Int64) throws {
        let sql = """
            SELECT id FROM device WHERE twin = ?1
            UNION SELECT twin FROM device WHERE id = ?1 AND twin IS NOT NULL
            """
        let others = try self.database.integers(sql: sql, [device])
        guard !others.isEmpty else { return }
        try self.database.run(sql: "UPDATE device SET twin = NULL WHERE twin = ?1 OR id = ?1", [device])
        guard try self.isWatched() else { return }
        for other in others { try self.link(other, to: device, since: try self.tick(), countsAll: false) }
    }

    /// Notes that a device gives a token up, and what the token has had.
    func gaveUp(_ token: DeviceToken, _ environment: PushEnvironment, device: Int64) throws {
        guard try self.isWatched() else { return }
        try self.database.replace(
            in: "formerToken",
            [
                "app": self.app, "token": token.databaseValue, "environment": environment.code, "device": device,
                "since": try self.tick(),
            ]
        )
        try SentTokenHistory(app: self.app, database: self.database).gaveUp(token, device: device)
    }

    /// Links a device that took a token to those that had it before, in either environment, and to the one that has it
    /// in the other environment now.
    func took(_ token: DeviceToken, _ environment: PushEnvironment, device: Int64) throws {
        let sql = """
            SELECT device FROM formerToken WHERE app = ? AND token = ? AND device != ? ORDER BY since DESC LIMIT ?
            """
        let former = try self.database.integers(sql: sql, [self.app, Data(token.bytes), device, Self.awaited])
        // A page that was in flight when the token was given up went to it all the same.
        for other in former { try self.link(device, to: other, since: try self.tick(), countsAll: false) }
        try self.unpair(device)
        guard let other = try self.pair(token, environment, device: device), try self.isWatched() else { return }
        // It may be the earlier of the two, and the other one may have had the notification by this token.
        try self.link(device, to: other, since: try self.tick(), countsAll: false)
    }

    /// The most former devices of a token that a device awaits. Those with a page in flight are among the last ones.
    private static let awaited = 16

    /// Makes a device the twin of the one that has its token in the other environment.
    /// - Returns: The other device; `nil` if there is none.
    @discardableResult func pair(_ token: DeviceToken, _ environment: PushEnvironment, device: Int64) throws -> Int64? {
        let sql = "SELECT id FROM device WHERE app = ? AND token = ? AND environment = ?"
        guard let other = try self.database.integer(sql: sql, [self.app, Data(token.bytes), 1 - environment.code])
        else { return nil }
        try self.database.run(sql: "UPDATE device SET twin = ? WHERE id = ?", [min(other, device), max(other, device)])
        return other
    }

    /// Makes a device await another one.
    /// - Parameter countsAll: Whether everything counts that the other one had, and not only what is recorded of its
    ///   token (``SentTokenHistory``). A later link does not take that back.
    private func link(_ device: Int64, to other: Int64, since clock: Int64, countsAll: Bool) throws {
        let update = """
            ON CONFLICT (device, other) DO UPDATE
            SET since = excluded.since, countsAll = max(countsAll, excluded.countsAll)
            """
        let link: ColumnValues = ["device": device, "other": other, "since": clock, "countsAll": countsAll]
        try self.database.insert(into: "deviceLink", link, update)
        if countsAll {
            // Links of the other device hold for this one too.
            let links = """
                INSERT INTO deviceLink (device, other, since, countsAll)
                SELECT ?, other, ?, countsAll FROM deviceLink WHERE device = ? AND other != ? \(update)
                """
            try self.database.run(sql: links, [device, clock, other, device])
        }
        try self.database.run(sql: "UPDATE device SET churn = ? WHERE id = ?", [clock, device])
    }

    /// Advances the registration clock.
    func tick() throws -> Int64 {
        try self.database.integer(sql: "UPDATE registrationClock SET number = number + 1 RETURNING number") ?? 0
    }

    /// Deletes what no notification of the app needs any more, of `limit` devices at most.
    /// - Returns: The number of those devices.
    static func forget(app: Int64, limit: Int, in database: Database) throws -> Int {
        let opened = """
            SELECT min(openedAfter) FROM notification
            WHERE app = ? AND finishedAt IS NULL AND openedAfter IS NOT NULL
            """
        let floor = try database.integer(sql: opened, [app]) ?? .max
        let sql = """
            SELECT id, hasLeft FROM device INDEXED BY deviceChurned
            WHERE app = ? AND churn IS NOT NULL AND churn <= ? LIMIT ?
            """
        let rows = try database.rows(sql: sql, [app, floor, limit])
        for row in rows {
            guard let id = row["id"] as Int64? else { continue }
            if row["hasLeft"] as Int64? != 0 {
                try Self.delete(id, in: database)
            } else {
                try database.run(sql: "UPDATE device SET churn = NULL WHERE id = ?", [id])
                try database.run(sql: "DELETE FROM deviceLink WHERE device = ?", [id])
            }
        }
        let former = """
            DELETE FROM formerToken WHERE (app, token, environment, device) IN (
                SELECT app, token, environment, device FROM formerToken WHERE app = ? AND since <= ? LIMIT ?)
            """
        try database.run(sql: former, [app, floor, limit])
        return rows.count
    }

    /// Deletes a device's row, with its tags, attributes and links.
    private static func delete(_ device: Int64, in database: Database) throws {
        try database.run(sql: "UPDATE device SET twin = NULL WHERE twin = ?", [device])
        try database.run(sql: "DELETE FROM device WHERE id = ?", [device])
    }
}
