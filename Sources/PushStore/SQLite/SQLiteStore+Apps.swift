import Foundation
import GRDB
package import PushProtocol

extension SQLiteStore {
    package func addApp(
        bundleID: Topic,
        name: String?,
        now: Timestamp
    ) async throws -> (app: AppRecord, isNew: Bool) {
        try await self.database.write { database in
            if let known = try Self.app(bundleID, in: database) { return (known, false) }
            try database.execute(
                sql: "INSERT INTO app (bundleID, name, createdAt) VALUES (?, ?, ?)",
                arguments: [bundleID.name, name, now.milliseconds]
            )
            let id = database.lastInsertedRowID
            return (AppRecord(id: id, bundleID: bundleID, name: name, createdAt: now), true)
        }
    }

    package func apps() async throws -> [AppRecord] {
        try await self.database.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM app ORDER BY bundleID").map(Self.app)
        }
    }

    package func app(bundleID: Topic) async throws -> AppRecord? {
        try await self.database.read { try Self.app(bundleID, in: $0) }
    }

    package func setCredential(
        _ credential: CredentialRecord,
        app: Int64,
        environment: PushEnvironment
    ) async throws {
        let sealed = try self.masterKey.seal(credential.privateKey)
        try await self.database.write { database in
            try database.execute(
                sql: """
                    INSERT INTO credential (app, environment, teamID, keyID, sealedKey) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT (app, environment) DO UPDATE
                    SET teamID = excluded.teamID, keyID = excluded.keyID, sealedKey = excluded.sealedKey
                    """,
                arguments: [app, environment.rawValue, credential.teamID, credential.keyID, sealed]
            )
        }
    }

    package func credential(app: Int64, environment: PushEnvironment) async throws -> CredentialRecord? {
        let sealed = try await self.database.read { database in
            try Row.fetchOne(
                database,
                sql: "SELECT * FROM credential WHERE app = ? AND environment = ?",
                arguments: [app, environment.rawValue]
            ).map(Self.credential)
        }
        return try sealed.map { teamID, keyID, key in
            CredentialRecord(teamID: teamID, keyID: keyID, privateKey: try self.masterKey.open(key))
        }
    }

    private static func credential(_ row: Row) throws -> (teamID: String, keyID: String, sealedKey: Data) {
        guard let teamID = row["teamID"] as String?, let keyID = row["keyID"] as String?,
            let sealedKey = row["sealedKey"] as Data?
        else { throw DamagedRow(table: "credential") }
        return (teamID, keyID, sealedKey)
    }

    package func environments(app: Int64) async throws -> Set<PushEnvironment> {
        let names = try await self.database.read { database in
            try String.fetchAll(database, sql: "SELECT environment FROM credential WHERE app = ?", arguments: [app])
        }
        return Set(names.compactMap(PushEnvironment.init(rawValue:)))
    }

    private static func app(_ bundleID: Topic, in database: Database) throws -> AppRecord? {
        try Row.fetchOne(database, sql: "SELECT * FROM app WHERE bundleID = ?", arguments: [bundleID.name])
            .map(Self.app)
    }

    private static func app(_ row: Row) throws -> AppRecord {
        guard let id = row["id"] as Int64?, let bundleID = row.topic("bundleID"), let createdAt = row.time("createdAt")
        else { throw DamagedRow(table: "app") }
        return AppRecord(id: id, bundleID: bundleID, name: row["name"], createdAt: createdAt)
    }
}
