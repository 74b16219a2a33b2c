package import PushTypes

extension SQLStore {
    package func forget(before: Timestamp, limit: Int) async throws -> Int {
        try await self.database.write { database in
            let apps = try database.integers(sql: "SELECT id FROM app")
            let churned = try apps.reduce(0) { count, app in
                count < limit
                    ? count + (try RegistrationChanges.forget(app: app, limit: limit - count, in: database)) : count
            }
            guard churned == 0 else { return churned }
            let sql = """
                DELETE FROM tokenEvent WHERE id IN (SELECT id FROM tokenEvent WHERE at < ? ORDER BY at LIMIT ?)
                """
            let events = try database.run(sql: sql, [before.milliseconds, limit])
            guard events < limit else { return events }
            let ended = try apps.reduce(0) { count, app in
                let most = limit - events - count
                return most > 0
                    ? count + (try Self.forgetUsers(of: app, before: before, limit: most, in: database)) : count
            }
            guard events + ended < limit else { return events + ended }
            return events + ended
                + (try Self.forgetNotification(before: before, limit: limit - events - ended, in: database))
        }
    }

    /// Deletes the periods of devices' former users, except those to which deliveries may still belong.
    private static func forgetUsers(of app: Int64, before: Timestamp, limit: Int, in database: any SQLConnection) throws
        -> Int
    {
        let sql = """
            DELETE FROM deviceUser WHERE (device, until) IN (
                SELECT device, until FROM deviceUser INDEXED BY deviceUserByTime
                WHERE until < min(?2, coalesce((SELECT createdAt FROM notification INDEXED BY notificationByApp
                    WHERE app = ?1 ORDER BY number LIMIT 1), ?2)) AND app = ?1 LIMIT ?3)
            """
        return try database.run(sql: sql, [app, before.milliseconds, limit])
    }

    /// Deletes deliveries of the notification that finished first and, when none is left, the notification itself. A
    /// notification that is being resent keeps its deliveries, because they are the audience of the resend.
    private static func forgetNotification(before: Timestamp, limit: Int, in database: any SQLConnection) throws -> Int
    {
        let first = """
            SELECT number FROM notification WHERE finishedAt < ? AND NOT EXISTS (
                SELECT 1 FROM notification AS other
                WHERE other.resendOf = notification.id AND other.finishedAt IS NULL)
            ORDER BY finishedAt LIMIT 1
            """
        guard let number = try database.integer(sql: first, [before.milliseconds]) else { return 0 }
        var count = 0
        for table in StoredTable.all where table.owner == .notification(isLedger: true) {
            count += try table.deleteRows(of: number, limit: limit - count, in: database)
            guard count < limit else {
                try database.run(sql: "UPDATE notification SET isForgotten = 1 WHERE number = ?", number)
                return count
            }
        }
        try database.run(sql: "DELETE FROM notification WHERE number = ?", number)
        return count + 1
    }

    /// The number of newest connections that are kept at any age, because they may be open. A provider has fewer.
    private static let keptConnections = 1000

    package func forgetConnections(before: Timestamp, limit: Int) async throws -> Int {
        // Connections have no index by time. A read searches them, so that writers do not have to wait.
        let old = """
            SELECT id FROM connection
            WHERE openedAt < ? AND id <= (SELECT max(id) FROM connection) - ? ORDER BY id LIMIT ?
            """
        let arguments: SQLArguments = [before.milliseconds, Self.keptConnections, limit]
        let ids = try await self.database.read { try $0.integers(sql: old, arguments) }
        guard let first = ids.first, let last = ids.last else { return 0 }
        let sql = "DELETE FROM connection WHERE id BETWEEN ? AND ? AND openedAt < ?"
        return try await self.database.run(sql: sql, [first, last, before.milliseconds])
    }
}
