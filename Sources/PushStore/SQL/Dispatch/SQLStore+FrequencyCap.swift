package import ProviderModel
package import PushTypes

/// Counts notifications towards the frequency caps of apps, for each user or device.
extension SQLStore {
    package func reserve(_ reservations: [FrequencyCapReservation]) async throws -> [Set<BytewiseString>] {
        guard reservations.contains(where: { !$0.holders.isEmpty }) else { return reservations.map { _ in [] } }
        return try await self.database.write { database in
            try reservations.map { try Self.reserve($0, in: database) }
        }
    }

    private enum CapUseColumn: Int, CodingKey, CaseIterable { case app, holder, notification, at }

    private static let counting = CapUseColumn.insertion(
        into: "capUse",
        "ON CONFLICT (app, holder, notification) DO UPDATE SET at = excluded.at"
    )

    /// Counts the notification towards the cap of each holder, a user or a device, that has not reached the cap.
    /// - Returns: The holders that have reached the cap.
    private static func reserve(_ reservation: FrequencyCapReservation, in database: any SQLConnection) throws -> Set<
        BytewiseString
    > {
        let (cap, app, notification) = (reservation.cap, reservation.app, reservation.notification)
        let since = reservation.now.advanced(by: .zero - .seconds(cap.window)).milliseconds
        let count = """
            SELECT count(*) FILTER (WHERE notification != ?3), count(*) FILTER (WHERE notification = ?3) FROM capUse
            WHERE app = ?1 AND holder = ?2 AND at > ?4
            """
        let counted = try database.prepare(count)
        let used = try RowInsertion<CapUseColumn>(Self.counting, in: database)
        used.bind(app, to: .app)
        used.bind(notification, to: .notification)
        used.bind(reservation.now.milliseconds, to: .at)
        return try reservation.holders.filter { holder in
            counted.bind(app, at: 1)
            counted.bind(holder.text, at: 2)
            counted.bind(notification, at: 3)
            counted.bind(since, at: 4)
            guard try counted.step() else { return false }
            let (others, own) = (counted.integer(0), counted.integer(1))
            counted.reset()
            guard own > 0 || others < cap.count else { return true }
            used.bind(holder.text, to: .holder)
            try used.run()
            return false
        }
    }

    package func forgetCapUses(now: Timestamp, limit: Int) async throws -> Int {
        try await self.database.write { database in
            let apps = try database.rows(sql: "SELECT id, coalesce(capWindow, 0) AS window FROM app")
            return try apps.reduce(0) { count, row in
                guard count < limit, let app = row["id"] as Int64?, let window = row["window"] as Int64?
                else { return count }
                let before = now.advanced(by: .zero - .seconds(window)).milliseconds
                let sql = """
                    DELETE FROM capUse WHERE (app, holder, notification) IN (
                        SELECT app, holder, notification FROM capUse INDEXED BY capUseByTime
                        WHERE app = ? AND at <= ? LIMIT ?)
                    """
                return count + (try database.run(sql: sql, [app, before, limit - count]))
            }
        }
    }
}
