import Foundation
import GRDB
package import PushTypes

extension SQLiteStore {
    /// The age of tokens that are deleted: their keys are not used any more.
    private static let keptTokens: Duration = .seconds(86_400)

    package func providerToken(
        offering offered: ProviderTokenRecord,
        rejected: Timestamp?,
        now: Timestamp
    ) async throws -> ProviderTokenRecord {
        let masterKey = self.masterKey
        return try await self.database.write { database in
            let key = offered.key
            var stored = try Self.providerToken(key, masterKey, in: database)
            if let rejected, stored?.issuedAt == rejected, stored?.isRejected == false {
                stored?.isRejected = true
                let sql = "UPDATE providerToken SET isRefused = 1 \(Self.ofKey)"
                try database.run(sql: sql, [key.teamID, key.keyID, key.fingerprint])
            }
            if let stored, !stored.isDue(at: now) { return stored }
            let sealed = try masterKey.seal(offered.text, for: .providerToken(key))
            let sql = """
                INSERT OR REPLACE INTO providerToken (teamID, keyID, fingerprint, sealed, issuedAt, isRefused)
                VALUES (?, ?, ?, ?, ?, 0)
                """
            let issuedAt = offered.issuedAt
            try database.run(sql: sql, [key.teamID, key.keyID, key.fingerprint, sealed, issuedAt.milliseconds])
            let oldest = issuedAt.advanced(by: .zero - Self.keptTokens)
            try database.run(sql: "DELETE FROM providerToken WHERE issuedAt < ?", oldest.milliseconds)
            return offered
        }
    }

    private static let ofKey = "WHERE teamID = ? AND keyID = ? AND fingerprint = ?"

    /// Returns the stored token of a key; `nil` also for one that cannot be opened, which another replaces.
    private static func providerToken(
        _ key: ProviderTokenKey,
        _ masterKey: MasterKey,
        in database: Database
    ) throws -> ProviderTokenRecord? {
        let sql = "SELECT * FROM providerToken \(Self.ofKey)"
        guard let row = try database.row(sql: sql, [key.teamID, key.keyID, key.fingerprint]),
            let issuedAt = row.time("issuedAt"), let sealed = row["sealed"] as Data?,
            let isRejected = row["isRefused"] as Bool?,
            let text = try? masterKey.open(sealed, for: .providerToken(key))
        else { return nil }
        return ProviderTokenRecord(key: key, text: text, issuedAt: issuedAt, isRejected: isRejected)
    }
}
