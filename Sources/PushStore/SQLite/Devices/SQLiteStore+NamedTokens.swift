import GRDB
package import PushTypes

extension SQLiteStore {
    package func registrations(app: Int64, tokens: [DeviceToken]) async throws -> [DeviceToken:
        [NamedTokenRegistration]]
    {
        try await self.database.lookup { database in
            let sql = "SELECT environment, kind, isActive FROM device WHERE app = ? AND token = ? AND hasLeft = 0"
            var found: [DeviceToken: [NamedTokenRegistration]] = [:]
            for token in tokens {
                let rows = try database.rows(sql: sql, [app, token.databaseValue])
                let registrations = rows.compactMap(Self.registration)
                if !registrations.isEmpty { found[token] = registrations }
            }
            return found
        }
    }

    /// Reads a registration; `nil` for a row that is damaged.
    private static func registration(_ row: Row) -> NamedTokenRegistration? {
        guard let environment = row.environment("environment"), let kind = row.tokenKind("kind"),
            let isActive = row["isActive"] as Bool?
        else { return nil }
        return NamedTokenRegistration(environment: environment, kind: kind, isActive: isActive)
    }

    package func setTag(
        _ tag: String,
        isSet: Bool,
        of tokens: [DeviceToken],
        app: Int64
    ) async throws -> [TagChange] {
        try await self.database.write { database in
            try tokens.map { try Self.setTag(tag, isSet: isSet, of: $0, app: app, in: database) }
        }
    }

    private static func setTag(
        _ tag: String,
        isSet: Bool,
        of token: DeviceToken,
        app: Int64,
        in database: Database
    ) throws -> TagChange {
        let condition = "app = ? AND token = ? AND isActive = 1 AND hasLeft = 0"
        let arguments = [app.databaseValue, token.databaseValue]
        let devices = try Self.devices(database, where: condition, arguments: arguments).devices
        guard !devices.isEmpty else { return .noDevice }
        for device in devices where isSet {
            let tags = device.profile.tags.union([ExactText(tag)])
            if tags.count > device.profile.tags.count, let excess = DeviceBounds.excess(tags: tags) {
                return .excess(excess)
            }
        }
        var ids = Set(devices.map(\.id))
        let siblings = "SELECT id FROM device WHERE app = ? AND installation = ? AND hasLeft = 0"
        for device in devices {
            guard let installation = device.profile.installation else { continue }
            ids.formUnion(try database.integers(sql: siblings, [app, installation]))
        }
        let sql =
            isSet
            ? "INSERT OR IGNORE INTO deviceTag (app, tag, device) VALUES (?, ?, ?)"
            : "DELETE FROM deviceTag WHERE app = ? AND tag = ? AND device = ?"
        let changed = try ids.sorted().reduce(0) { try $0 + database.run(sql: sql, [app, tag, $1]) }
        return changed > 0 ? .changed : .unchanged
    }
}
