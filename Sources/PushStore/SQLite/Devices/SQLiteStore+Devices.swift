import Foundation
import GRDB
package import PushTypes

extension SQLiteStore {
    package func devices(
        app: Int64,
        audience: AudienceExpression,
        environment: PushEnvironment?,
        kind: TokenKind?,
        after: Int64,
        limit: Int
    ) async throws -> [DeviceRecord] {
        try await self.database.query { database in
            try Self.devices(
                app: app,
                audience: audience,
                environment: environment,
                kind: kind,
                after: after,
                limit: limit,
                in: database
            )
        }
    }

    static func devices(
        app: Int64,
        audience: AudienceExpression,
        environment: PushEnvironment?,
        kind: TokenKind?,
        after: Int64,
        limit: Int,
        in database: Database
    ) throws -> [DeviceRecord] {
        let condition = AudienceSQL(audience, app: app)
        let only = Self.only(environment, kind)
        let count = try DeviceCount.devices(of: app, in: database).count
        let most = AudienceDriver.limit(wanted: limit, devices: count)
        let driver = try AudienceDriver.choose(audience, of: kind, app: app, limit: most, in: database)
        var (found, last): ([DeviceRecord], Int64?) = ([], after)
        // A page that is not full is the last: another device follows for each that cannot be read.
        while let after = last, found.count < limit {
            let wanted = limit - found.count
            let page = try Self.devices(
                database,
                index: driver == nil ? "INDEXED BY deviceByApp" : "NOT INDEXED",
                where:
                    "app = ? AND id > ? AND hasLeft = 0 AND \(condition.sql)\(only)\(driver.condition) ORDER BY id LIMIT ?",
                arguments: [app.databaseValue, after.databaseValue] + condition.arguments
                    + (driver?.arguments(after: after, upTo: .max) ?? []) + [wanted.databaseValue]
            )
            found += page.devices
            last = page.rows < wanted ? nil : page.last
        }
        return found
    }

    package func devices(app: Int64, token: DeviceToken) async throws -> [DeviceRecord] {
        // The plus keeps SQLite from visiting all devices of the app because they have that order.
        let condition = "app = ? AND token = ? AND hasLeft = 0 ORDER BY +id"
        let arguments = [app.databaseValue, token.databaseValue]
        return try await self.database.lookup { try Self.devices($0, where: condition, arguments: arguments).devices }
    }

    package func deleteDevices(
        app: Int64,
        token: DeviceToken,
        environment: PushEnvironment?,
        now: Timestamp
    ) async throws -> [Int64] {
        let condition = "token = ? AND environment = coalesce(?, environment)"
        let arguments = [token.databaseValue, environment.databaseValue]
        return try await self.deleteDevices(app: app, where: condition, arguments, now: now)
    }

    package func deleteDevices(app: Int64, installation: String, now: Timestamp) async throws -> [Int64] {
        let nodes = "DELETE FROM xmppNode WHERE app = ? AND installation = ?"
        try await self.database.run(sql: nodes, [app, installation])
        return try await self.deleteDevices(app: app, where: "installation = ?", [installation.databaseValue], now: now)
    }

    /// Finds devices and deletes them in one transaction.
    private func deleteDevices(
        app: Int64,
        where condition: String,
        _ arguments: [DatabaseValue],
        now: Timestamp
    ) async throws -> [Int64] {
        try await self.database.write { database in
            let sql = "SELECT id, token, environment FROM device WHERE app = ? AND \(condition) AND hasLeft = 0"
            let rows = try database.rows(sql: sql, StatementArguments([app.databaseValue] + arguments))
            let events = try TokenEventWriter(app: app, now: now, in: database)
            for row in rows {
                let (id, token, environment) = (
                    row["id"] as Int64? ?? 0, row.token("token"), row.environment("environment")
                )
                try DeviceUsers(app: app, database: database).removed(id, at: now)
                // A device that cannot be read is deleted at once.
                let changes = RegistrationChanges(app: app, database: database)
                try changes.leave(id, isReadable: token != nil && environment != nil)
                guard let token, let environment else { continue }
                try events.add(.deleted, device: id, token: token, environment: environment)
            }
            try events.announce()
            return rows.compactMap { $0["id"] as Int64? }
        }
    }

    package func count(
        app: Int64,
        audience: AudienceExpression,
        environment: PushEnvironment?,
        kind: TokenKind?
    ) async throws -> Int {
        let counting = DeviceCount(audience, environment: environment, kind: kind, app: app)
        return try await self.database.query(from: DeviceCount.Progress(), counting.step)
    }

    package func timeZones(app: Int64, kind: TokenKind?) async throws -> [String?: Int] {
        let sql = """
            SELECT timeZone, count(*) AS count FROM device
            WHERE app = ? AND isActive = 1\(Self.only(nil, kind)) GROUP BY timeZone
            """
        return try await self.database.query { database in
            let rows = try database.rows(sql: sql, [app])
            return Dictionary(rows.map { ($0["timeZone"] as String?, $0["count"] as Int? ?? 0) }, uniquingKeysWith: +)
        }
    }

    package func tokenKinds(app: Int64) async throws -> Set<TokenKind> {
        try await self.database.query { database in
            try Set(
                TokenKind.allCases.filter { kind in
                    // The other kinds have an index of their own, of which one entry tells.
                    let index = kind == .alert ? "deviceByTimeZone" : "deviceByKind"
                    let only = "\(AudienceSQL.condition(on: kind)) AND isActive = 1"
                    let sql = "SELECT 1 FROM device INDEXED BY \(index) WHERE app = ? AND \(only) LIMIT 1"
                    return try database.hasRow(sql: sql, app)
                }
            )
        }
    }

    /// Returns the conditions of an environment and a kind, after another condition.
    static func only(_ environment: PushEnvironment?, _ kind: TokenKind?) -> String {
        (environment.map { " AND environment = \($0.code)" } ?? "") + (kind.map { " AND kind = \($0.code)" } ?? "")
    }

    /// Reads devices.
    /// - Returns: The devices that can be read, the number of rows, and the id of the last row.
    static func devices(
        _ database: Database,
        index: String = "",
        where condition: String,
        arguments: [DatabaseValue]
    ) throws -> (devices: [DeviceRecord], rows: Int, last: Int64?) {
        let sql = """
            SELECT *, (SELECT json_group_array(tag) FROM deviceTag WHERE deviceTag.device = device.id) AS tags
            FROM device \(index) WHERE \(condition)
            """
        let rows = try database.rows(sql: sql, StatementArguments(arguments), isKept: false)
        return (try rows.compactMap { try $0.readable(Self.device) }, rows.count, rows.last?["id"])
    }

    /// Reads a device's row.
    /// - Throws: ``DamagedRow``.
    private static func device(_ row: Row) throws -> DeviceRecord {
        guard let id = row["id"] as Int64?, let environment = row.environment("environment"),
            let token = row.token("token"), let createdAt = row.time("createdAt"),
            let registeredAt = row.time("registeredAt"), let kind = row.tokenKind("kind"),
            let isActive = row["isActive"] as Bool?,
            let suspicions = row["suspicions"] as Int?
        else { throw DamagedRow(table: "device") }
        return DeviceRecord(
            id: id,
            environment: environment,
            token: token,
            kind: kind,
            activity: (row["activity"] as String?).flatMap { $0.isEmpty ? nil : $0 },
            profile: Self.profile(row),
            isActive: isActive,
            createdAt: createdAt,
            registeredAt: registeredAt,
            suspicions: suspicions
        )
    }

    private static func profile(_ row: Row) -> DeviceProfile {
        var profile = DeviceProfile()
        profile.user = row["user"]
        profile.locale = row["locale"]
        profile.timeZone = row["timeZone"]
        profile.appVersion = row["appVersion"]
        profile.installation = row["installation"]
        profile.capabilities = DeviceCapabilities(rawValue: row["capabilities"] as Int64? ?? 0)
        // Damaged attributes do not make the token unusable.
        profile.attributes = (try? DeviceAttributes.read(row["attributes"])) ?? [:]
        let tags = (row["tags"] as String?).flatMap { try? JSONDecoder().decode([String].self, from: Data($0.utf8)) }
        profile.tags = Set((tags ?? []).map { ExactText($0) })
        profile.preferences.optOuts = StoredOptOuts.read(row["optOuts"])
        profile.preferences.quietHours = (row["quietHours"] as String?).flatMap(QuietHours.init(stored:))
        if let id = row["encryptionKeyID"] as String?, let bytes = row["encryptionKey"] as Data? {
            profile.encryptionKey = EncryptionKey(id: id, bytes: Array(bytes))
        }
        return profile
    }
}
