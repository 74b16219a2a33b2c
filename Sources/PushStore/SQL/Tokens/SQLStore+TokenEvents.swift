package import ProviderModel
package import PushTypes

extension SQLStore {
    package func tokenEvents(
        app: Int64,
        token: DeviceToken?,
        action: TokenEventRecord.Action?,
        before: Int64?,
        limit: Int
    ) async throws -> [TokenEventRecord] {
        var condition = "app = ? AND id < ?"
        var arguments: SQLArguments = [app, before ?? Int64.max]
        if let token {
            condition += " AND token = ?"
            arguments += [token.sqlValue]
        }
        if let action { condition += " AND action = '\(action.rawValue)'" }
        let sql = "SELECT * FROM tokenEvent WHERE \(condition) ORDER BY id DESC LIMIT ?"
        arguments += [limit]
        return try await self.database.query { [arguments] in try $0.records(sql: sql, arguments) }
    }

    package func withheldTokens(app: Int64, environment: PushEnvironment) async throws -> Int {
        let sql = "SELECT count(*) FROM tokenEvent WHERE action = 'withheld' AND app = ? AND environment = ?"
        return try await self.database.query { try Int($0.integer(sql: sql, [app, environment.code]) ?? 0) }
    }

    package func settleWithheld(
        app: Int64,
        environment: PushEnvironment,
        deactivates: Bool,
        now: Timestamp
    ) async throws -> Int {
        // The deactivations are settled in several transactions, so that other writers do not wait long.
        let size = 5000
        var (settled, after, isLast) = (0, Int64(0), false)
        while !isLast {
            let first = after
            let rows = try await self.database.write { database in
                let sql = """
                    SELECT id, device, reason, since FROM tokenEvent
                    WHERE app = ? AND environment = ? AND action = 'withheld' AND id > ? ORDER BY id LIMIT ?
                    """
                let rows = try database.rows(sql: sql, [app, environment.code, first, size])
                try TokenEventWriter(app: app, now: now, in: database).settle(rows, deactivates: deactivates)
                if rows.count < size {
                    // The last transaction closes the circuit breaker, so that a crash before it leaves the rest to be
                    // settled.
                    let close = """
                        UPDATE health SET breakerOpenSince = NULL, breakerReason = NULL WHERE app = ? AND environment = ?
                        """
                    try database.run(sql: close, app, environment.code)
                }
                return (count: rows.count, last: rows.last?["id"] as Int64?)
            }
            settled += rows.count
            after = rows.last ?? after
            isLast = rows.count < size
        }
        return settled
    }

    /// The maximum number of token events that are counted in one query.
    private static let countedAtOnce: Int64 = 100_000

    package func tokenEvents(after id: Int64?) async throws -> (counts: [TokenEventCount], last: Int64) {
        try await self.database.read { database in
            let last = try database.integer(sql: "SELECT max(id) FROM tokenEvent") ?? 0
            guard let id, id < last else { return ([], max(last, id ?? 0)) }
            let end = min(last, id + Self.countedAtOnce)
            let sql = """
                SELECT tokenEvent.app, bundleID, environment, action, reason, count(*) AS count
                FROM tokenEvent LEFT JOIN app ON app.id = tokenEvent.app
                WHERE tokenEvent.id > ? AND tokenEvent.id <= ?
                GROUP BY tokenEvent.app, bundleID, environment, action, reason
                """
            let counts = try database.rows(sql: sql, [id, end]).compactMap { row -> TokenEventCount? in
                guard let app = row["app"] as Int64?, let environment = row.environment("environment"),
                    let action = row.value("action") as TokenEventRecord.Action?
                else { return nil }
                return TokenEventCount(
                    app: row["bundleID"] as String? ?? "\(app)",
                    environment: environment,
                    action: action,
                    reason: row["reason"],
                    count: row["count"] ?? 0
                )
            }
            return (counts, end)
        }
    }
}

extension TokenEventWriter {
    /// Marks withheld deactivations as settled. If `deactivates` is `true`, it also deactivates their devices.
    fileprivate func settle(_ rows: [SQLRow], deactivates: Bool) throws {
        let invalidation = TokenInvalidation(events: self, notification: nil)
        for row in rows {
            guard let id = row["id"] as Int64?, let device = row["device"] as Int64? else { continue }
            try self.database.run(sql: "UPDATE tokenEvent SET action = 'settled' WHERE id = ?", id)
            guard deactivates, let since = row.time("since") else { continue }
            try invalidation.apply(
                TokenStateChange(device: device, kind: .deactivated(since: since), reason: row["reason"])
            )
        }
        try self.announce()
    }
}
