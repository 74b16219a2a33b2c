import Foundation
import GRDB
package import PushProtocol

extension SQLiteStore {
    package func register(
        _ registration: DeviceRegistration,
        app: Int64,
        now: Timestamp
    ) async throws -> (device: DeviceRecord, isNew: Bool) {
        try await self.database.write { database in
            let before = try Self.deviceID(registration.token, registration.environment, app: app, in: database)
            try database.execute(
                sql: """
                    INSERT INTO device (app, environment, token, user, locale, timeZone, isActive, registeredAt, suspicions)
                    VALUES (?, ?, ?, ?, ?, ?, 1, ?, 0)
                    ON CONFLICT (app, token, environment) DO UPDATE
                    SET user = CASE WHEN ? THEN NULL ELSE coalesce(excluded.user, user) END, locale = coalesce(excluded.locale, locale),
                        timeZone = coalesce(excluded.timeZone, timeZone), isActive = 1,
                        registeredAt = excluded.registeredAt, suspicions = 0
                    """,
                arguments: [
                    app, registration.environment.rawValue, Data(registration.token.bytes), registration.user,
                    registration.locale, registration.timeZone, now.milliseconds, registration.clearsUser,
                ]
            )
            guard let id = try Self.deviceID(registration.token, registration.environment, app: app, in: database)
            else {
                throw DamagedRow(table: "device")
            }
            if let tags = registration.tags {
                try database.execute(sql: "DELETE FROM deviceTag WHERE device = ?", arguments: [id])
                for tag in tags {
                    try database.execute(
                        sql: "INSERT INTO deviceTag (app, tag, device) VALUES (?, ?, ?)",
                        arguments: [app, tag, id]
                    )
                }
            }
            let records = try Self.devices(database, sql: "SELECT * FROM device WHERE id = ?", arguments: [id])
            guard let device = records.first else { throw DamagedRow(table: "device") }
            return (device, before == nil)
        }
    }

    package func devices(
        app: Int64,
        audience: Audience,
        after: Int64,
        limit: Int
    ) async throws -> [DeviceRecord] {
        try await self.database.read { database in
            try Self.devices(app: app, audience: audience, after: after, limit: limit, in: database)
        }
    }

    package func devices(app: Int64, token: DeviceToken) async throws -> [DeviceRecord] {
        try await self.database.read { try Self.devices(app: app, token: token, in: $0) }
    }

    package func deleteDevices(
        app: Int64,
        token: DeviceToken,
        environment: PushEnvironment?
    ) async throws -> Int {
        try await self.database.write { database in
            try database.execute(
                sql: "DELETE FROM device WHERE app = ? AND token = ? AND environment = coalesce(?, environment)",
                arguments: [app, Data(token.bytes), environment?.rawValue]
            )
            return database.changesCount
        }
    }

    static func devices(app: Int64, token: DeviceToken, in database: Database) throws -> [DeviceRecord] {
        try Self.devices(
            database,
            sql: "SELECT * FROM device WHERE app = ? AND token = ? ORDER BY id",
            arguments: [app, Data(token.bytes)]
        )
    }

    /// - Parameter filter: a condition on `device`, true for all by default.
    static func devices(
        app: Int64,
        audience: Audience,
        where filter: String = "TRUE",
        after: Int64,
        limit: Int,
        in database: Database
    ) throws -> [DeviceRecord] {
        switch audience {
        case .all:
            return try Self.devices(
                database,
                sql: "SELECT * FROM device WHERE app = ? AND id > ? AND \(filter) ORDER BY id LIMIT ?",
                arguments: [app, after, limit]
            )
        case .user(let user):
            return try Self.devices(
                database,
                sql: "SELECT * FROM device WHERE app = ? AND user = ? AND id > ? AND \(filter) ORDER BY id LIMIT ?",
                arguments: [app, user, after, limit]
            )
        case .tag(let tag):
            return try Self.devices(
                database,
                sql: """
                    SELECT device.* FROM deviceTag JOIN device ON device.id = deviceTag.device
                    WHERE deviceTag.app = ? AND deviceTag.tag = ? AND deviceTag.device > ? AND \(filter)
                    ORDER BY deviceTag.device LIMIT ?
                    """,
                arguments: [app, tag, after, limit]
            )
        case .tokens(let tokens):
            return try tokens.flatMap { try Self.devices(app: app, token: $0, in: database) }
                .filter { $0.id > after }.sorted { $0.id < $1.id }.prefix(limit).map { $0 }
        }
    }

    private static func deviceID(
        _ token: DeviceToken,
        _ environment: PushEnvironment,
        app: Int64,
        in database: Database
    ) throws -> Int64? {
        try Int64.fetchOne(
            database,
            sql: "SELECT id FROM device WHERE app = ? AND token = ? AND environment = ?",
            arguments: [app, Data(token.bytes), environment.rawValue]
        )
    }

    private static func devices(
        _ database: Database,
        sql: String,
        arguments: StatementArguments
    ) throws -> [DeviceRecord] {
        try Row.fetchAll(database, sql: sql, arguments: arguments).map { row in
            guard let id = row["id"] as Int64?, let environment = row.environment("environment"),
                let token = row.token("token"), let registeredAt = row.time("registeredAt"),
                let isActive = row["isActive"] as Bool?, let suspicions = row["suspicions"] as Int?
            else { throw DamagedRow(table: "device") }
            let tags = try String.fetchAll(database, sql: "SELECT tag FROM deviceTag WHERE device = ?", arguments: [id])
            return DeviceRecord(
                id: id,
                environment: environment,
                token: token,
                user: row["user"],
                locale: row["locale"],
                timeZone: row["timeZone"],
                tags: Set(tags),
                isActive: isActive,
                registeredAt: registeredAt,
                suspicions: suspicions
            )
        }
    }
}
