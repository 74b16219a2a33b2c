package import Foundation
import GRDB
import PushSupport
package import PushTypes

extension SQLiteStore {
    package func addKey(_ key: APIKeyRecord, hash: [UInt8]) async throws {
        defer { self.keyCache.forget() }
        _ = try await self.database.write { database in
            try Self.checkApps(key.apps ?? [], in: database)
            return try database.insert(
                into: "apiKey",
                [
                    "id": key.id.uuidString, "hash": Data(hash), "name": key.name, "scopes": Self.text(key.scopes),
                    "apps": Self.text(key.apps), "createdAt": key.createdAt.milliseconds,
                    "expiresAt": key.expiresAt?.milliseconds, "rate": key.rate,
                ]
            )
        }
    }

    package func key(hash: [UInt8]) async throws -> APIKeyRecord? {
        try await self.keyCache.read(hash) {
            try await self.database.lookup {
                try $0.row(sql: "SELECT * FROM apiKey WHERE hash = ?", [Data(hash)]).map(Self.key)
            }
        }
    }

    package func keyHashes(limit: Int) async throws -> [[UInt8]] {
        try await self.database.lookup { database in
            try database.rows(sql: "SELECT hash FROM apiKey LIMIT ?", [limit]).compactMap { row in
                (row["hash"] as Data?).map { Array($0) }
            }
        }
    }

    package func keys() async throws -> [APIKeyRecord] {
        try await self.database.lookup { database in
            try database.rows(sql: "SELECT * FROM apiKey ORDER BY createdAt, id").map(Self.key)
        }
    }

    package func changeKey(_ id: UUID, _ change: @Sendable (inout APIKeyRecord) -> Void) async throws -> KeyChange {
        defer { self.keyCache.forget() }
        return try await self.database.write { database in
            guard let before = try Self.key(id, in: database) else { return .missing }
            var after = before
            change(&after)
            try Self.checkApps((after.apps ?? []).subtracting(before.apps ?? []), in: database)
            if before.isLastingAdmin, !after.isLastingAdmin {
                guard try Self.hasLastingAdmin(besides: id, in: database) else { return .lastAdmin }
            }
            try database.update(
                "apiKey",
                [
                    "name": after.name, "scopes": Self.text(after.scopes), "apps": Self.text(after.apps),
                    "expiresAt": after.expiresAt?.milliseconds, "rate": after.rate,
                ],
                id: id.uuidString
            )
            return .changed(after)
        }
    }

    package func deleteKey(_ id: UUID) async throws -> KeyDeletion {
        defer { self.keyCache.forget() }
        return try await self.database.write { database in
            guard let key = try Self.key(id, in: database) else { return .missing }
            guard try !key.isLastingAdmin || Self.hasLastingAdmin(besides: id, in: database) else { return .lastAdmin }
            try database.run(sql: "DELETE FROM apiKey WHERE id = ?", [id.uuidString])
            return .deleted
        }
    }

    package func setLastUses(_ uses: [UUID: Timestamp]) async throws {
        try await self.database.write { database in
            for (id, at) in uses {
                let sql = "UPDATE apiKey SET lastUsedAt = ?1 WHERE id = ?2 AND (lastUsedAt IS NULL OR lastUsedAt < ?1)"
                try database.run(sql: sql, [at.milliseconds, id.uuidString])
            }
        }
    }

    private static func key(_ id: UUID, in database: Database) throws -> APIKeyRecord? {
        try database.row(sql: "SELECT * FROM apiKey WHERE id = ?", [id.uuidString]).map(Self.key)
    }

    /// Returns `true` if there is another ``APIKeyRecord/isLastingAdmin`` key.
    private static func hasLastingAdmin(besides id: UUID, in database: Database) throws -> Bool {
        let sql = """
            SELECT 1 FROM apiKey
            WHERE id != ? AND apps IS NULL AND expiresAt IS NULL AND instr(' ' || scopes || ' ', ' admin ') > 0
            """
        return try database.hasRow(sql: sql, [id.uuidString])
    }

    /// - Throws: ``StoreError/noSuchApp(_:)`` for an app that does not exist, or is being erased.
    static func checkApps(_ apps: Set<Topic>, in database: Database) throws {
        for app in apps.sorted(by: { $0.name < $1.name }) {
            let sql = "SELECT 1 FROM app WHERE bundleID = ? AND isErased = 0"
            guard try database.hasRow(sql: sql, [app.name]) else { throw StoreError.noSuchApp(app) }
        }
    }

    private static func text(_ scopes: Set<APIScope>) -> String {
        APICaller.names(scopes).joined(separator: " ")
    }

    /// Returns the bundle ids with spaces between them, which none of them has; `nil` for all apps.
    static func text(_ apps: Set<Topic>?) -> String? {
        apps.map { $0.map(\.name).sorted().joined(separator: " ") }
    }

    static func key(_ row: Row) throws -> APIKeyRecord {
        guard let id = row.uuid("id"), let name = row["name"] as String?, let scopes = row["scopes"] as String?,
            let createdAt = row.time("createdAt")
        else { throw DamagedRow(table: "apiKey") }
        var key = APIKeyRecord(
            id: id,
            name: name,
            scopes: Set(scopes.split(separator: " ").compactMap { APIScope(rawValue: String($0)) }),
            apps: (row["apps"] as String?).map { Set($0.split(separator: " ").compactMap { Topic(String($0)) }) },
            createdAt: createdAt
        )
        (key.expiresAt, key.rate, key.lastUsedAt) = (row.time("expiresAt"), row["rate"], row.time("lastUsedAt"))
        return key
    }
}
