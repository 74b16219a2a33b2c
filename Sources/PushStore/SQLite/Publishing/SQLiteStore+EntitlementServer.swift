import Foundation
import GRDB
import PushTypes

extension SQLiteStore {
    package func entitlementServer(app: Int64) async throws -> EntitlementServerRecord? {
        let masterKey = self.masterKey
        return try await self.database.lookup { try Self.entitlementServer(app: app, masterKey, in: $0) }
    }

    package func setEntitlementServer(
        _ server: EntitlementServerRecord,
        keepsSecret: Bool
    ) async throws -> EntitlementServerRecord {
        let masterKey = self.masterKey
        return try await self.database.write { database in
            var server = server
            // One that is damaged is replaced.
            let stored = try? Self.entitlementServer(app: server.app, masterKey, in: database)
            if keepsSecret, let stored { server.secret = stored.secret }
            let sealed = try masterKey.seal(server.secret, for: .entitlementServer(app: server.app))
            let sql = """
                INSERT OR REPLACE INTO entitlementServer (app, url, form, whenDown, sealed, revision, changedAt)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """
            try database.run(
                sql: sql,
                [
                    server.app, server.url, server.form.rawValue, server.whenDown.rawValue, sealed,
                    server.revision.uuidString, server.changedAt.milliseconds,
                ]
            )
            return server
        }
    }

    package func removeEntitlementServer(app: Int64) async throws -> Bool {
        try await self.database.run(sql: "DELETE FROM entitlementServer WHERE app = ?", [app]) > 0
    }

    private static func entitlementServer(
        app: Int64,
        _ masterKey: MasterKey,
        in database: Database
    ) throws -> EntitlementServerRecord? {
        try database.row(sql: "SELECT * FROM entitlementServer WHERE app = ?", [app])
            .map { try Self.entitlementServer($0, masterKey) }
    }

    /// Reads a server's row.
    /// - Parameter masterKey: The key that opens the secret; `nil` leaves the secret out.
    /// - Throws: ``DamagedRow``.
    static func entitlementServer(_ row: Row, _ masterKey: MasterKey?) throws -> EntitlementServerRecord {
        guard let app = row["app"] as Int64?, let url = row["url"] as String?,
            let form = row.value("form") as EntitlementServerRecord.Form?,
            let whenDown = row.value("whenDown") as EntitlementServerRecord.WhenDown?,
            let sealed = row["sealed"] as Data?, let revision = row.uuid("revision"),
            let changedAt = row.time("changedAt"),
            let secret = masterKey.map({ try? $0.open(sealed, for: .entitlementServer(app: app)) }) ?? ""
        else { throw DamagedRow(table: "entitlementServer") }
        return EntitlementServerRecord(
            app: app,
            url: url,
            form: form,
            whenDown: whenDown,
            secret: secret,
            revision: revision,
            changedAt: changedAt
        )
    }
}
