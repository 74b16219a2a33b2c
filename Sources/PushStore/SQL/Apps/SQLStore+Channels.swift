package import ProviderModel
package import PushTypes

extension SQLStore {
    /// The time in milliseconds for which a deleted channel is kept: 90 days.
    private static let memoryOfDeleted: Int64 = 90 * 86_400_000
    private static let firstEnvironment = PushEnvironment.sandbox

    package func addChannel(_ channel: ChannelRecord) async throws -> ChannelRecord {
        try await self.database.write { database in
            let old = channel.createdAt.milliseconds.subtractingReportingOverflow(Self.memoryOfDeleted)
            try database.run(
                sql: "DELETE FROM channel WHERE app = ? AND deletedAt < ?",
                [channel.app, old.overflow ? .min : old.partialValue]
            )
            try database.insert(
                into: "channel",
                of: .app,
                [
                    "app": channel.app, "environment": channel.environment.code, "id": channel.id.text,
                    "storage": channel.storage.rawValue, "name": channel.name,
                    "createdAt": channel.createdAt.milliseconds,
                ],
                """
                ON CONFLICT (app, environment, id) DO UPDATE
                SET deletedAt = NULL, name = coalesce(excluded.name, channel.name)
                """
            )
            return try Self.channel(channel.id, channel.app, channel.environment, in: database) ?? channel
        }
    }

    package func channel(_ id: ChannelID, app: Int64, environment: PushEnvironment?) async throws -> ChannelRecord? {
        try await self.database.lookup { try Self.channel(id, app, environment, in: $0) }
    }

    package func channels(app: Int64, environment: PushEnvironment?) async throws -> [ChannelRecord] {
        let sql = """
            SELECT * FROM channel WHERE app = ?1 AND (CAST(?2 AS BIGINT) IS NULL OR environment = ?2) AND deletedAt IS NULL
            ORDER BY environment = ?3 DESC, createdAt, id
            """
        return try await self.database.lookup { database in
            try database.rows(sql: sql, [app, environment?.code, Self.firstEnvironment.code])
                .map(ChannelRecord.init(row:))
        }
    }

    package func channelDeleted(
        _ id: ChannelID,
        app: Int64,
        environment: PushEnvironment,
        at: Timestamp
    ) async throws -> Bool {
        let sql = """
            UPDATE channel SET deletedAt = ? WHERE app = ? AND environment = ? AND id = ? AND deletedAt IS NULL
            """
        return try await self.database.run(sql: sql, [at.milliseconds, app, environment.code, id.text]) > 0
    }

    private static func channel(
        _ id: ChannelID,
        _ app: Int64,
        _ environment: PushEnvironment?,
        in database: any SQLConnection
    ) throws -> ChannelRecord? {
        let sql = """
            SELECT * FROM channel WHERE app = ?1 AND (CAST(?2 AS BIGINT) IS NULL OR environment = ?2) AND id = ?3
            ORDER BY deletedAt IS NOT NULL, environment = ?4 DESC LIMIT 1
            """
        return try database.record(sql: sql, [app, environment?.code, id.text, Self.firstEnvironment.code])
    }
}

extension ChannelRecord: StoredRecord {
    static let table = "channel"

    init(_ row: StoredRow) throws {
        self.init(
            id: try row.get("id"),
            app: try row.get("app"),
            environment: try row.get("environment"),
            storage: try row.get(raw: "storage"),
            name: row["name"],
            createdAt: try row.get("createdAt")
        )
        self.deletedAt = row["deletedAt"]
    }
}
