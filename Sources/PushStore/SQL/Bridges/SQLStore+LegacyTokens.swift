import Foundation
package import ProviderModel
package import PushTypes

extension SQLStore {
    /// The SQL condition that a device has registered the token of a `legacyToken` row since that was written.
    private static let hasRegistered = """
        EXISTS (SELECT 1 FROM device
            WHERE device.app = legacyToken.app AND device.environment = legacyToken.environment
                AND device.token = legacyToken.token AND isActive = 1 AND hasLeft = 0 AND registeredAt >= since)
        """

    package func refusedTokens(_ tokens: [DeviceToken], of target: AppEnvironment) async throws -> Set<DeviceToken> {
        let sql = """
            SELECT 1 FROM legacyToken WHERE app = ?1 AND environment = ?2 AND token = ?3 AND isRefused = 1
                AND NOT \(Self.hasRegistered)
            UNION ALL
            SELECT 1 FROM device WHERE app = ?1 AND environment = ?2 AND token = ?3 AND isActive = 0 AND hasLeft = 0
            """
        return try await self.database.read { database in
            Set(
                try tokens.filter {
                    try database.hasRow(sql: sql, [target.app, target.environment.code, $0.sqlValue])
                }
            )
        }
    }

    package func takeRefusal(_ token: DeviceToken, of target: AppEnvironment) async throws {
        let sql = "UPDATE legacyToken SET isRefused = 0 WHERE app = ? AND environment = ? AND token = ?"
        try await self.database.write { database in
            try database.run(sql: sql, [target.app, target.environment.code, token.sqlValue])
            try Self.removeSettled(token, of: target, in: database)
        }
    }

    package func feedbackList(
        of target: AppEnvironment,
        after token: DeviceToken?,
        limit: Int
    ) async throws -> [LegacyToken] {
        let sql = """
            SELECT token, since FROM legacyToken
            WHERE app = ? AND environment = ? AND token > ? AND isListed = 1 AND NOT \(Self.hasRegistered)
            ORDER BY token LIMIT ?
            """
        let after = Data(token?.bytes ?? [])
        return try await self.database.read { database in
            try database.rows(sql: sql, [target.app, target.environment.code, after, limit]).compactMap { row in
                guard let token = row.token("token"), let since = row.time("since") else { return nil }
                return LegacyToken(token: token, since: since)
            }
        }
    }

    package func clearFeedback(_ entries: [LegacyToken], of target: AppEnvironment) async throws {
        let sql = "UPDATE legacyToken SET isListed = 0 WHERE app = ? AND environment = ? AND token = ? AND since = ?"
        try await self.database.write { database in
            for entry in entries {
                let key = entry.token.sqlValue
                try database.run(sql: sql, [target.app, target.environment.code, key, entry.since.milliseconds])
                try Self.removeSettled(entry.token, of: target, in: database)
            }
        }
    }

    package func legacyPushes(
        over bridge: String,
        app: Int64,
        since: Timestamp,
        limit: Int
    ) async throws -> [LegacyPush] {
        let sql = """
            SELECT target.token AS token, payload, expiration
            FROM notification INDEXED BY notificationByTime
            JOIN target ON target.notification = notification.number AND position = 1
            WHERE createdAt >= ? AND app = ? AND origin = ? ORDER BY createdAt DESC LIMIT ?
            """
        let origin = NotificationOrigin(.binary, bridge: bridge).description
        return try await self.database.read { database in
            try database.rows(sql: sql, [since.milliseconds, app, origin, limit]).compactMap { row in
                guard let token = row.token("token"), let payload = row["payload"] as Data? else { return nil }
                return LegacyPush(app: app, token: token, payload: payload, expiration: row["expiration"])
            }
        }
    }

    package func forgetLegacyTokens(before: Timestamp, limit: Int) async throws -> Int {
        let sql = """
            DELETE FROM legacyToken WHERE (app, environment, token) IN (
                SELECT app, environment, token FROM legacyToken WHERE addedAt < ? LIMIT ?)
            """
        return try await self.database.run(sql: sql, [before.milliseconds, limit])
    }

    /// Deletes the entry of a token that both an error packet and the feedback list have reported to the provider.
    private static func removeSettled(_ token: DeviceToken, of target: AppEnvironment, in database: any SQLConnection)
        throws
    {
        let sql = """
            DELETE FROM legacyToken WHERE app = ? AND environment = ? AND token = ? AND isListed = 0 AND isRefused = 0
            """
        try database.run(sql: sql, [target.app, target.environment.code, token.sqlValue])
    }
}
