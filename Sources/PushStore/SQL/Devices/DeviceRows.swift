import Foundation
package import ProviderModel
package import PushTypes

struct DeviceRows {
    let database: any SQLConnection

    /// Returns the devices of an audience by id, beginning after `after`. A `nil` environment or kind stands for any.
    func devices(
        app: Int64,
        audience: AudienceExpression,
        environment: PushEnvironment?,
        kind: DeviceTokenKind?,
        after: Int64,
        limit: Int
    ) throws -> [DeviceRecord] {
        let condition = AudienceSQL(audience, app: app, self.database.attributes)
        let only = AudienceSQL.only(environment, kind)
        let count = try DeviceCount.devices(of: app, in: self.database).count
        let most = AudienceDriver.limit(wanted: limit, devices: count)
        let driver = try AudienceDriver.choose(audience, of: kind, app: app, limit: most, in: self.database)
        var (found, last): ([DeviceRecord], Int64?) = ([], after)
        // Further rows make up for damaged ones, because callers take a page that is not full for the last one.
        while let after = last, found.count < limit {
            let wanted = limit - found.count
            let page = try self.page(
                index: driver == nil ? "INDEXED BY deviceByApp" : "NOT INDEXED",
                where:
                    "app = ? AND id > ? AND hasLeft = 0 AND \(condition.sql)\(only)\(driver.condition) ORDER BY id LIMIT ?",
                arguments: [app.sqlValue, after.sqlValue] + condition.arguments
                    + (driver?.arguments(after: after, upTo: .max) ?? []) + [wanted.sqlValue]
            )
            found += page.devices
            last = page.rows < wanted ? nil : page.last
        }
        return found
    }

    func devices(where condition: String, _ arguments: [SQLValue]) throws -> [DeviceRecord] {
        try self.page(where: condition, arguments: arguments).devices
    }

    /// Reads the devices that match a condition.
    /// - Returns: The readable devices, the number of rows, and the id of the last row, or `nil` if there is no row.
    private func page(
        index: String = "",
        where condition: String,
        arguments: [SQLValue]
    ) throws -> (devices: [DeviceRecord], rows: Int, last: Int64?) {
        let sql = """
            SELECT *, (SELECT json_group_array(tag) FROM deviceTag WHERE deviceTag.device = device.id) AS tags
            FROM device \(index) WHERE \(condition)
            """
        let rows = try self.database.rows(sql: sql, SQLArguments(arguments), isKept: false)
        return (try rows.compactMap { try $0.readable(DeviceRecord.init(row:)) }, rows.count, rows.last?["id"])
    }
}

extension DeviceRecord: StoredRecord {
    static let table = "device"

    init(_ row: StoredRow) throws {
        let activity: String? = row["activity"]
        self.init(
            id: try row.get("id"),
            environment: try row.get("environment"),
            token: try row.get("token"),
            kind: try row.get("kind"),
            activity: activity?.isEmpty == false ? activity : nil,
            profile: DeviceProfile(row),
            isActive: try row.get("isActive"),
            createdAt: try row.get("createdAt"),
            registeredAt: try row.get("registeredAt"),
            suspicions: try row.get("suspicions")
        )
    }
}

extension DeviceProfile {
    fileprivate init(_ row: StoredRow) {
        self.init(user: row["user"], locale: row["locale"], timeZone: row["timeZone"], appVersion: row["appVersion"])
        self.installation = row["installation"]
        self.capabilities = row[raw: "capabilities"] ?? []
        // A device with damaged attributes can still receive pushes.
        self.attributes = (try? DeviceAttributes.read(row["attributes"])) ?? [:]
        let tags = (row["tags"] as String?).flatMap { try? JSONDecoder().decode([String].self, from: Data($0.utf8)) }
        self.tags = Set((tags ?? []).map { BytewiseString($0) })
        self.preferences.optOuts = StoredOptOuts.read(row["optOuts"])
        self.preferences.quietHours = (row["quietHours"] as String?).flatMap(QuietHours.init(stored:))
        if let id: String = row["encryptionKeyID"], let bytes: [UInt8] = row["encryptionKey"] {
            self.encryptionKey = InstallationPublicKey(id: id, bytes: bytes)
        }
    }
}

/// The stored form of opt-outs. Each category is enclosed in line feeds, so that SQL can search for a whole category.
enum StoredOptOuts {
    static func text(_ categories: Set<BytewiseString>) -> String? {
        categories.isEmpty ? nil : "\n\(categories.sorted().map(\.text).joined(separator: "\n"))\n"
    }

    static func read(_ text: String?) -> Set<BytewiseString> {
        Set((text ?? "").split(separator: "\n").map { BytewiseString(String($0)) })
    }
}

extension SQLStore {
    package func devices(
        app: Int64,
        audience: AudienceExpression,
        environment: PushEnvironment?,
        kind: DeviceTokenKind?,
        after: Int64,
        limit: Int
    ) async throws -> [DeviceRecord] {
        try await self.database.query { database in
            try DeviceRows(database: database).devices(
                app: app,
                audience: audience,
                environment: environment,
                kind: kind,
                after: after,
                limit: limit
            )
        }
    }

    package func devices(app: Int64, token: DeviceToken) async throws -> [DeviceRecord] {
        // The plus keeps SQLite from using the primary key's order, for which it would scan all devices of the app.
        let condition = "app = ? AND token = ? AND hasLeft = 0 ORDER BY +id"
        let arguments = [app.sqlValue, token.sqlValue]
        return try await self.database.lookup { try DeviceRows(database: $0).devices(where: condition, arguments) }
    }

    package func deleteDevices(
        app: Int64,
        token: DeviceToken,
        environment: PushEnvironment?,
        now: Timestamp
    ) async throws -> [Int64] {
        let condition = "token = ? AND environment = coalesce(?, environment)"
        let arguments = [token.sqlValue, environment.sqlValue]
        return try await self.deleteDevices(app: app, where: condition, arguments, now: now)
    }

    package func deleteDevices(app: Int64, installation: String, now: Timestamp) async throws -> [Int64] {
        let nodes = "DELETE FROM xmppNode WHERE app = ? AND installation = ?"
        try await self.database.run(sql: nodes, [app, installation])
        return try await self.deleteDevices(app: app, where: "installation = ?", [installation.sqlValue], now: now)
    }

    private func deleteDevices(
        app: Int64,
        where condition: String,
        _ arguments: [SQLValue],
        now: Timestamp
    ) async throws -> [Int64] {
        try await self.database.write { database in
            let sql = "SELECT id, token, environment FROM device WHERE app = ? AND \(condition) AND hasLeft = 0"
            let rows = try database.rows(sql: sql, SQLArguments([app.sqlValue] + arguments))
            let events = TokenEventWriter(app: app, now: now, in: database)
            for row in rows {
                let (id, token, environment) = (
                    row["id"] as Int64? ?? 0, row.token("token"), row.environment("environment")
                )
                try DeviceUsers(app: app, database: database).removed(id, at: now)
                // A device that cannot be read is deleted immediately.
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
        kind: DeviceTokenKind?
    ) async throws -> Int {
        let counting = DeviceCount(audience, environment: environment, kind: kind, app: app)
        return try await self.database.query(from: DeviceCount.Progress(), counting.step)
    }

    package func timeZones(app: Int64, kind: DeviceTokenKind?) async throws -> [String?: Int] {
        let sql = """
            SELECT timeZone, count(*) AS count FROM device
            WHERE app = ? AND isActive = 1\(AudienceSQL.only(nil, kind)) GROUP BY timeZone
            """
        return try await self.database.query { database in
            let rows = try database.rows(sql: sql, [app])
            return Dictionary(rows.map { ($0["timeZone"] as String?, $0["count"] as Int? ?? 0) }, uniquingKeysWith: +)
        }
    }

    package func tokenKinds(app: Int64) async throws -> Set<DeviceTokenKind> {
        try await self.database.query { database in
            try Set(
                DeviceTokenKind.allCases.filter { kind in
                    // The kinds other than alert have an index, of which one entry is enough.
                    let index = kind == .alert ? "deviceByTimeZone" : "deviceByKind"
                    let only = "\(AudienceSQL.condition(on: kind)) AND isActive = 1"
                    let sql = "SELECT 1 FROM device INDEXED BY \(index) WHERE app = ? AND \(only) LIMIT 1"
                    return try database.hasRow(sql: sql, app)
                }
            )
        }
    }

    package func firstDevice(addedSince time: Timestamp) async throws -> Int64 {
        try await self.database.read { database in
            let last = try database.integer(sql: "SELECT max(id) FROM device") ?? 0
            let next = "SELECT id, createdAt FROM device WHERE id >= ? ORDER BY id LIMIT 1"
            // A binary search. Devices with ids below `low` were added before the time, those from `high` on were not.
            var (low, high) = (Int64(1), last < .max ? last + 1 : last)
            while low < high {
                let middle = low + (high - low) / 2
                guard let row = try database.row(sql: next, [middle]), let id = row["id"] as Int64?,
                    let createdAt = row.time("createdAt")
                else { return low }
                if createdAt < time { low = max(middle, id) + 1 } else { high = middle }
            }
            return low
        }
    }

    // MARK: Named tokens

    package func registrations(app: Int64, tokens: [DeviceToken]) async throws -> [DeviceToken:
        [NamedTokenRegistration]]
    {
        try await self.database.lookup { database in
            let sql = "SELECT environment, kind, isActive FROM device WHERE app = ? AND token = ? AND hasLeft = 0"
            var found: [DeviceToken: [NamedTokenRegistration]] = [:]
            for token in tokens {
                let rows = try database.rows(sql: sql, [app, token.sqlValue])
                let registrations = rows.compactMap(Self.registration)
                if !registrations.isEmpty { found[token] = registrations }
            }
            return found
        }
    }

    private static func registration(_ row: SQLRow) -> NamedTokenRegistration? {
        guard let environment = row.environment("environment"), let kind = row.tokenKind("kind"),
            let isActive = row["isActive"] as Bool?
        else { return nil }
        return NamedTokenRegistration(environment: environment, kind: kind, isActive: isActive)
    }

    package func setTag(_ tag: String, isSet: Bool, of tokens: [DeviceToken], app: Int64) async throws
        -> [TagChangeResult]
    {
        try await self.database.write { database in
            let devices = DeviceRows(database: database)
            return try tokens.map { try devices.setTag(tag, isSet: isSet, of: $0, app: app) }
        }
    }
}

extension DeviceRows {
    fileprivate func setTag(_ tag: String, isSet: Bool, of token: DeviceToken, app: Int64) throws -> TagChangeResult {
        let condition = "app = ? AND token = ? AND isActive = 1 AND hasLeft = 0"
        let arguments = [app.sqlValue, token.sqlValue]
        let devices = try self.devices(where: condition, arguments)
        guard !devices.isEmpty else { return .noDevice }
        for device in devices where isSet {
            let tags = device.profile.tags.union([BytewiseString(tag)])
            if tags.count > device.profile.tags.count, let excess = DeviceLimits.excess(tags: tags) {
                return .excess(excess)
            }
        }
        var ids = Set(devices.map(\.id))
        let siblings = "SELECT id FROM device WHERE app = ? AND installation = ? AND hasLeft = 0"
        for device in devices {
            guard let installation = device.profile.installation else { continue }
            ids.formUnion(try self.database.integers(sql: siblings, [app, installation]))
        }
        let sql =
            isSet
            ? "INSERT INTO deviceTag (app, tag, device) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
            : "DELETE FROM deviceTag WHERE app = ? AND tag = ? AND device = ?"
        let changed = try ids.sorted().reduce(0) { try $0 + self.database.run(sql: sql, [app, tag, $1]) }
        return changed > 0 ? .changed : .unchanged
    }
}
