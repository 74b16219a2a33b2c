package import Foundation
import GRDB
import PushTypes

extension SQLiteStore {
    package func addKey(_ key: APIKeyRecord, hash: [UInt8]) async throws {
        defer { self.keyCache.forget() }
        let scopes = key.scopes.map(\.rawValue).sorted().joined(separator: " ")
        let sql = "INSERT INTO apiKey (id, hash, name, scopes, createdAt) VALUES (?, ?, ?, ?, ?)"
        let values: StatementArguments = [key.id.uuidString, Data(hash), key.name, scopes, key.createdAt.milliseconds]
        try await self.database.run(sql: sql, values)
    }

    package func key(hash: [UInt8]) async throws -> APIKeyRecord? {
        let change = self.keyCache.change
        if let known = self.keyCache.key(hash) { return known }
        let found = try await self.database.lookup {
            try $0.row(sql: "SELECT * FROM apiKey WHERE hash = ?", [Data(hash)]).map(Self.key)
        }
        if let found { self.keyCache.keep(found, hash, since: change) }
        return found
    }

    package func keys() async throws -> [APIKeyRecord] {
        try await self.database.lookup { database in
            try database.rows(sql: "SELECT * FROM apiKey ORDER BY createdAt, id").map(Self.key)
        }
    }

    package func deleteKey(_ id: UUID) async throws -> KeyDeletion {
        defer { self.keyCache.forget() }
        return try await self.database.write { database in
            let sql = """
                DELETE FROM apiKey WHERE id = ?1 AND (instr(' ' || scopes || ' ', ' admin ') = 0
                    OR EXISTS (
                        SELECT 1 FROM apiKey AS other
                        WHERE other.id != ?1 AND instr(' ' || other.scopes || ' ', ' admin ') > 0))
                """
            if try database.run(sql: sql, [id.uuidString]) > 0 { return .deleted }
            return try database.hasRow(sql: "SELECT 1 FROM apiKey WHERE id = ?", [id.uuidString])
                ? .lastAdmin : .missing
        }
    }

    private static func key(_ row: Row) throws -> APIKeyRecord {
        guard let id = row.uuid("id"), let name = row["name"] as String?, let scopes = row["scopes"] as String?,
            let createdAt = row.time("createdAt")
        else { throw DamagedRow(table: "apiKey") }
        return APIKeyRecord(
            id: id,
            name: name,
            scopes: Set(scopes.split(separator: " ").compactMap { APIScope(rawValue: String($0)) }),
            createdAt: createdAt
        )
    }
}
