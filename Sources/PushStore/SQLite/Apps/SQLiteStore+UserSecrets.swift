package import Foundation
import GRDB
package import PushTypes

extension SQLiteStore {
    package func addUserSecret(_ secret: UserSecretRecord, app: Int64, limit: Int) async throws -> Bool {
        let sealed = try self.masterKey.seal(secret.secret, for: .userSecret(secret.id, app: app))
        return try await self.database.write { database in
            guard try database.count(sql: "SELECT count(*) FROM userSecret WHERE app = ?", [app]) < limit else {
                return false
            }
            let sql = "INSERT INTO userSecret (id, app, sealed, createdAt) VALUES (?, ?, ?, ?)"
            try database.run(sql: sql, [secret.id.uuidString, app, sealed, secret.createdAt.milliseconds])
            return true
        }
    }

    package func userSecrets(app: Int64) async throws -> [UserSecretRecord] {
        let masterKey = self.masterKey
        return try await self.database.lookup { database in
            let sql = "SELECT * FROM userSecret WHERE app = ? ORDER BY createdAt, id"
            return try database.rows(sql: sql, [app]).map { row in
                guard let id = row.uuid("id"), let createdAt = row.time("createdAt"),
                    let sealed = row["sealed"] as Data?
                else { throw DamagedRow(table: "userSecret") }
                let secret = try masterKey.open(sealed, for: .userSecret(id, app: app))
                return UserSecretRecord(id: id, createdAt: createdAt, secret: secret)
            }
        }
    }

    package func deleteUserSecret(_ id: UUID, app: Int64) async throws -> Bool {
        try await self.database.run(sql: "DELETE FROM userSecret WHERE id = ? AND app = ?", [id.uuidString, app]) > 0
    }

    package func installationSecret(_ installation: String, of app: Topic) -> String {
        self.masterKey.derive("installation/\(app.name)/\(installation)")
    }
}
