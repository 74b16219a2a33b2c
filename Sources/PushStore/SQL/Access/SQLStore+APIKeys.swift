package import Foundation
package import ProviderModel
import PushSupport
package import PushTypes

extension SQLStore {
    package func addKey(_ key: APIKeyRecord, hash: [UInt8]) async throws {
        try await self.database.write { database in
            try AppRows(database: database).check(key.apps ?? [])
            var columns: ColumnValues = [
                "id": key.id.uuidString, "hash": Data(hash), "createdAt": key.createdAt.milliseconds,
            ]
            columns += key.columns
            try database.insert(into: "apiKey", columns)
        }
    }

    package func key(hash: [UInt8]) async throws -> APIKeyRecord? {
        try await self.database.apps.keys.read(hash) {
            try await self.database.lookup { try $0.record(sql: "SELECT * FROM apiKey WHERE hash = ?", [Data(hash)]) }
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
            try database.rows(sql: "SELECT * FROM apiKey ORDER BY createdAt, id").map(APIKeyRecord.init(row:))
        }
    }

    package func changeKey(_ id: UUID, _ change: @escaping @Sendable (inout APIKeyRecord) -> Void) async throws
        -> KeyChangeResult
    {
        return try await self.database.write { database in
            guard let before = try APIKeyRecord.find(id, in: database) else { return .missing }
            var after = before
            change(&after)
            try AppRows(database: database).check((after.apps ?? []).subtracting(before.apps ?? []))
            if before.isLastingAdmin, !after.isLastingAdmin {
                guard try Self.hasLastingAdmin(besides: id, in: database) else { return .lastAdmin }
            }
            try database.update("apiKey", after.columns, id: id.uuidString)
            return .changed(after)
        }
    }

    package func deleteKey(_ id: UUID) async throws -> KeyDeletionResult {
        return try await self.database.write { database in
            guard let key = try APIKeyRecord.find(id, in: database) else { return .missing }
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

    private static func hasLastingAdmin(besides id: UUID, in database: any SQLConnection) throws -> Bool {
        let sql = """
            SELECT 1 FROM apiKey
            WHERE id != ? AND apps IS NULL AND expiresAt IS NULL AND instr(' ' || scopes || ' ', ' admin ') > 0
            """
        return try database.hasRow(sql: sql, [id.uuidString])
    }
}

extension APIKeyRecord: StoredRecord {
    static let table = "apiKey"

    init(_ row: StoredRow) throws {
        let scopes: String = try row.get("scopes")
        self.init(
            id: try row.get("id"),
            name: try row.get("name"),
            scopes: Set(scopes.split(separator: " ").compactMap { APIScope(rawValue: String($0)) }),
            apps: (row["apps"] as String?).map(Set<Topic>.init(stored:)),
            createdAt: try row.get("createdAt")
        )
        (self.expiresAt, self.rate, self.lastUsedAt) = (row["expiresAt"], row["rate"], row["lastUsedAt"])
    }

    fileprivate var columns: ColumnValues {
        [
            "name": self.name, "scopes": APICaller.names(self.scopes).joined(separator: " "),
            "apps": self.apps?.stored, "expiresAt": self.expiresAt?.milliseconds, "rate": self.rate,
        ]
    }
}
