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
            var stored = try Self.providerToken(offered.key, masterKey, in: database)
            if let rejected, stored?.issuedAt == rejected, stored?.isRejected == false {
                stored?.isRejected = true
                try database.run(
                    sql: "UPDATE providerToken SET isRefused = 1 WHERE teamID = ? AND keyID = ? AND fingerprint = ?",
                    [offered.key.teamID, offered.key.keyID, offered.key.fingerprint]
                )
            }
            if let stored, !stored.isDue(at: now) { return stored }
            let sealed = try masterKey.seal(offered.text, for: .providerToken(offered.key))
            try database.run(
                sql: """
                    INSERT OR REPLACE INTO providerToken (teamID, keyID, fingerprint, sealed, issuedAt, isRefused)
                    VALUES (?, ?, ?, ?, ?, 0)
                    """,
                [offered.key.teamID, offered.key.keyID, offered.key.fingerprint, sealed, offered.issuedAt.milliseconds]
            )
            try database.run(
                sql: "DELETE FROM providerToken WHERE issuedAt < ?",
                [offered.issuedAt.advanced(by: .zero - Self.keptTokens).milliseconds]
            )
            return offered
        }
    }

    /// Returns the stored token of a key; `nil` also for one that cannot be opened, which another replaces.
    private static func providerToken(
        _ key: ProviderTokenKey,
        _ masterKey: MasterKey,
        in database: Database
    ) throws -> ProviderTokenRecord? {
        let row = try database.row(
            sql: "SELECT * FROM providerToken WHERE teamID = ? AND keyID = ? AND fingerprint = ?",
            [key.teamID, key.keyID, key.fingerprint]
        )
        guard let row, let issuedAt = row.time("issuedAt"), let sealed = row["sealed"] as Data?,
            let isRejected = row["isRefused"] as Bool?,
            let text = try? masterKey.open(sealed, for: .providerToken(key))
        else { return nil }
        return ProviderTokenRecord(key: key, text: text, issuedAt: issuedAt, isRejected: isRejected)
    }
}
