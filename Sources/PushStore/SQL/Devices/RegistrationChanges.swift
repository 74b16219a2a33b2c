import Foundation
import PushTypes

/// Records changes of devices that affect notifications in progress, within a transaction.
///
/// A recipient is identified by its device's id. While a notification of the app is in progress, a removed device keeps
/// its row, hidden, in case it returns. The notifications that were sent to a token are recorded, even if another
/// device takes over the token (docs/decisions/0018).
struct RegistrationChanges {
    let app: Int64
    let database: any SQLConnection

    /// Returns whether a notification of the app is open, so that changes of devices must be recorded.
    func isWatched() throws -> Bool {
        let sql = """
            SELECT 1 FROM notification INDEXED BY notificationWatching
            WHERE app = ? AND finishedAt IS NULL AND openedAfter IS NOT NULL LIMIT 1
            """
        return try self.database.hasRow(sql: sql, self.app)
    }

    /// The SQL expression for the change by which a device got its current user, as in the index `deviceByUserSince`.
    ///
    /// It is the value of the registration clock at that time. Changes from before migration 33 have lower values than
    /// all others, in the order of the devices' ids. A device that took over its user from another device has the value
    /// of that device, so that an erasure that is in progress during the upgrade erases both devices or neither.
    ///
    /// SQLite uses the index only for the same expression. In another engine, `1` has to be an integer of 64 bits.
    static let userChange = "coalesce(userSince, id - (1 << 62))"

    /// Returns the registration clock's value, which rises with each recorded change of a device.
    static func clock(in database: any SQLConnection) throws -> Int64 {
        try database.integer(sql: "SELECT number FROM registrationClock") ?? 0
    }

    /// Removes a device, or hides it while notifications in progress still need it.
    /// - Parameter isReadable: Whether the row can be decoded. A row that cannot be decoded is deleted immediately.
    func leave(_ device: Int64, isReadable: Bool) throws {
        guard isReadable, try self.isWatched() else { return try Self.delete(device, in: self.database) }
        try self.hide(device, clock: try self.tick())
    }

    /// Hides a device. An inactive device (`hasLeft` = 2) is no recipient any more, and is kept only as a record of the
    /// notifications that were sent to it.
    private func hide(_ device: Int64, clock: Int64) throws {
        let sql = """
            UPDATE device SET hasLeft = CASE isActive WHEN 1 THEN 1 ELSE 2 END, isActive = 0, churn = ?
            WHERE id = ? AND hasLeft = 0
            """
        try self.database.run(sql: sql, [clock, device])
    }

    /// Erases a device and all data about its user. The id is kept while notifications in progress need it.
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

    /// Records, by the registration clock, that a device has changed, if a notification is in progress.
    func changed(_ device: Int64) throws {
        guard try self.isWatched() else { return }
        try self.database.run(sql: "UPDATE device SET churn = ? WHERE id = ?", [try self.tick(), device])
    }

    /// Restores a hidden device. Notifications that passed over it meanwhile are then sent to it immediately.
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

    /// Merges a device into another one. Notifications sent to either count as sent to the remaining device.
    ///
    /// Devices of different installations stay separate recipients, because the removed device can return with another
    /// token. Then only the notifications sent to its token count as sent to the remaining device.
    func merge(_ gone: Int64, into kept: Int64) throws {
        guard try self.isWatched() else { return try Self.delete(gone, in: self.database) }
        let clock = try self.tick()
        try self.hide(gone, clock: clock)
        let staysItself = try self.hasOtherInstallation(gone, than: kept)
        try self.vacate(gone, keepsInstallation: staysItself)
        try self.link(kept, to: gone, since: clock, countsAll: !staysItself)
    }

    private func hasOtherInstallation(_ device: Int64, than other: Int64) throws -> Bool {
        let sql = """
            SELECT 1 FROM device JOIN device AS other ON other.id = ?2
            WHERE device.id = ?1 AND device.installation != other.installation
            """
        return try self.database.hasRow(sql: sql, [device, other])
    }

    /// Takes the installation from a hidden device and links the hidden device to a registered one. Notifications sent
    /// to either count as sent to the registered device.
    func takeInstallation(from left: Int64, to device: Int64) throws {
        try self.database.run(sql: "UPDATE device SET installation = NULL WHERE id = ?", [left])
        guard try self.isWatched() else { return }
        try self.link(device, to: left, since: try self.tick(), countsAll: true)
    }

    /// Frees the token and the installation of a hidden device. A random token takes the place of the old one.
    private func vacate(_ device: Int64, keepsInstallation: Bool) throws {
        let row = try self.database.row(sql: "SELECT token, environment FROM device WHERE id = ?", [device])
        if let row, let token = row.token("token"), let environment = row.environment("environment") {
            try self.gaveUp(token, environment, device: device)
        }
        try self.unpair(device)
        // A random token, which no device can register.
        let sql = """
            UPDATE device SET token = randomblob(32), installation = CASE WHEN ? != 0 THEN installation END WHERE id = ?
            """
        try self.database.run(sql: sql, [keepsInstallation, device])
    }

    /// Separates a device that gives up its token from its twin, the device with the same token in the other
    /// environment. Notifications are sent to the twin only after the device has its final state.
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

    /// Records that a device gives up its token, and which notifications in progress were sent to the token.
    func gaveUp(_ token: DeviceToken, _ environment: PushEnvironment, device: Int64) throws {
        guard try self.isWatched() else { return }
        try self.database.replace(
            in: "formerToken",
            key: ["app": self.app, "token": token.sqlValue, "environment": environment.code, "device": device],
            ["since": try self.tick()]
        )
        try SentTokenHistory(app: self.app, database: self.database).gaveUp(token, device: device)
    }

    /// Links a device with a new token to the former devices of the token in both environments, and to the device that
    /// has the token in the other environment.
    func took(_ token: DeviceToken, _ environment: PushEnvironment, device: Int64) throws {
        let sql = """
            SELECT device FROM formerToken WHERE app = ? AND token = ? AND device != ? ORDER BY since DESC LIMIT ?
            """
        let former = try self.database.integers(sql: sql, [self.app, Data(token.bytes), device, Self.awaited])
        // A page in flight when the token was given up is still sent to the token.
        for other in former { try self.link(device, to: other, since: try self.tick(), countsAll: false) }
        try self.unpair(device)
        guard let other = try self.pair(token, environment, device: device), try self.isWatched() else { return }
        // The device may have the lower id of the two, and the notification may have been sent to the other one by this
        // token.
        try self.link(device, to: other, since: try self.tick(), countsAll: false)
    }

    /// The maximum number of a token's former devices for which a device waits. Those in flight are among the latest.
    private static let awaited = 16

    /// Pairs a device with its twin, the device with the same token in the other environment.
    /// - Returns: The id of the twin, or `nil` if there is none.
    @discardableResult func pair(_ token: DeviceToken, _ environment: PushEnvironment, device: Int64) throws -> Int64? {
        let sql = "SELECT id FROM device WHERE app = ? AND token = ? AND environment = ?"
        guard let other = try self.database.integer(sql: sql, [self.app, Data(token.bytes), 1 - environment.code])
        else { return nil }
        try self.database.run(sql: "UPDATE device SET twin = ? WHERE id = ?", [min(other, device), max(other, device)])
        return other
    }

    /// Links a device to another one, for whose final state a notification waits before it sends to the device.
    /// - Parameter countsAll: Whether all notifications sent to the other device count as sent to this one, and not
    ///   only those that are recorded for its token (``SentTokenHistory``). A later link does not revoke it.
    private func link(_ device: Int64, to other: Int64, since clock: Int64, countsAll: Bool) throws {
        let update = """
            ON CONFLICT (device, other) DO UPDATE
            SET since = excluded.since, countsAll = max(deviceLink.countsAll, excluded.countsAll)
            """
        let link: ColumnValues = ["device": device, "other": other, "since": clock, "countsAll": countsAll]
        try self.database.insert(into: "deviceLink", link, update)
        if countsAll {
            // Links of the other device apply to this one too.
            let links = """
                INSERT INTO deviceLink (device, other, since, countsAll)
                SELECT ?, other, ?, countsAll FROM deviceLink WHERE device = ? AND other != ? \(update)
                """
            try self.database.run(sql: links, [device, clock, other, device])
        }
        try self.database.run(sql: "UPDATE device SET churn = ? WHERE id = ?", [clock, device])
    }

    /// Advances the registration clock, and returns its new value.
    func tick() throws -> Int64 {
        try self.database.integer(sql: "UPDATE registrationClock SET number = number + 1 RETURNING number") ?? 0
    }

    /// Deletes the records of at most `limit` devices that no notification in progress needs any more.
    /// - Returns: The number of devices whose records were deleted.
    static func forget(app: Int64, limit: Int, in database: any SQLConnection) throws -> Int {
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
            // The conditions hold for the present row, which may have changed since it was read.
            if row["hasLeft"] as Int64? != 0 {
                let isGone = try database.run(sql: "DELETE FROM device WHERE id = ? AND hasLeft != 0", [id]) > 0
                if isGone { try database.run(sql: "UPDATE device SET twin = NULL WHERE twin = ?", [id]) }
            } else {
                let settle = "UPDATE device SET churn = NULL WHERE id = ? AND churn <= ?"
                guard try database.run(sql: settle, [id, floor]) > 0 else { continue }
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

    /// Deletes the row of a device, and with it the device's tags, attributes and links.
    private static func delete(_ device: Int64, in database: any SQLConnection) throws {
        try database.run(sql: "UPDATE device SET twin = NULL WHERE twin = ?", [device])
        try database.run(sql: "DELETE FROM device WHERE id = ?", [device])
    }
}
