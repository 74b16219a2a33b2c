import Foundation
import GRDB
package import PushTypes

extension SQLiteStore {
    package func setCredential(
        _ credential: CredentialRecord,
        over transport: PushTransport,
        app: Int64,
        environment: PushEnvironment
    ) async throws {
        let columns = try CredentialColumns(credential)
        let sealed = try self.masterKey.seal(columns.secret, for: .credential(app: app, environment))
        try await self.database.write { database in
            let sql = """
                INSERT INTO credential (app, environment, kind, teamID, keyID, sealed, transport)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (app, environment) DO UPDATE
                SET kind = excluded.kind, teamID = excluded.teamID, keyID = excluded.keyID,
                    sealed = excluded.sealed, transport = excluded.transport, announcedStage = NULL
                """
            try database.run(
                sql: sql,
                [
                    app, environment.code, columns.kind, columns.teamID, columns.keyID, sealed, transport.rawValue,
                ]
            )
            try Self.forgetHealth(app: app, environment: environment, in: database)
            try EnvironmentPauses.beginEpoch(app: app, environment: environment, in: database)
        }
    }

    package func removeCredential(app: Int64, environment: PushEnvironment) async throws -> Bool {
        try await self.database.write { database in
            try database.run(sql: "DELETE FROM credential WHERE app = ? AND environment = ?", [app, environment.code])
            // An environment that never had a credential stays in its first epoch.
            guard database.changesCount > 0 else { return false }
            try Self.forgetHealth(app: app, environment: environment, in: database)
            try EnvironmentPauses.beginEpoch(app: app, environment: environment, in: database)
            return true
        }
    }

    package func credential(app: Int64, environment: PushEnvironment) async throws -> CredentialRecord? {
        try await self.storedCredential(AppEnvironment(app: app, environment: environment))?.credential
    }

    package func storedCredential(_ target: AppEnvironment) async throws -> StoredCredential? {
        let (app, environment) = (target.app, target.environment)
        let masterKey = self.masterKey
        return try await self.database.read { database in
            let sql = """
                SELECT *, coalesce((
                    SELECT epoch FROM environmentState AS state
                    WHERE state.app = credential.app AND state.environment = credential.environment), 0) AS epoch
                FROM credential WHERE app = ? AND environment = ?
                """
            guard let row = try database.row(sql: sql, [app, environment.code]) else { return nil }
            let credential = try Self.credential(row, app: app, environment: environment, masterKey)
            guard let transport = row.value("transport") as PushTransport? else {
                throw DamagedRow(table: "credential")
            }
            return StoredCredential(credential, epoch: row["epoch"] ?? 0, transport: transport)
        }
    }

    package func transports(app: Int64) async throws -> [PushEnvironment: PushTransport] {
        let sql = "SELECT environment, transport FROM credential WHERE app = ?"
        return try await self.database.lookup { database in
            let rows = try database.rows(sql: sql, [app])
            let pairs = rows.compactMap { row -> (PushEnvironment, PushTransport)? in
                guard let environment = row.environment("environment") else { return nil }
                return (environment, row.value("transport") ?? .http2)
            }
            return Dictionary(pairs) { $1 }
        }
    }

    /// Reads a credential's row.
    /// - Throws: ``DamagedRow``, ``StoreError/wrongMasterKey``.
    static func credential(
        _ row: Row,
        app: Int64,
        environment: PushEnvironment,
        _ masterKey: MasterKey
    ) throws -> CredentialRecord {
        guard let kind = row["kind"] as String?, let sealed = row["sealed"] as Data?
        else { throw DamagedRow(table: "credential") }
        let secret = try masterKey.open(sealed, for: .credential(app: app, environment))
        return try CredentialColumns(kind: kind, teamID: row["teamID"], keyID: row["keyID"], secret: secret).credential
    }

    /// Forgets what was proven with another credential.
    private static func forgetHealth(app: Int64, environment: PushEnvironment, in database: Database) throws {
        try database.run(sql: "DELETE FROM health WHERE app = ? AND environment = ?", [app, environment.code])
    }
}

/// The columns of a credential, with the secret before it is sealed.
private struct CredentialColumns {
    /// The secret of a certificate, as JSON.
    private struct File: Codable {
        /// PEM, or base64 of a `.p12`.
        var content: String
        var passphrase: String?
    }

    var kind: String
    var teamID, keyID: String?
    var secret: String

    var credential: CredentialRecord {
        get throws {
            switch self.kind {
            case "key":
                guard let teamID, let keyID else { throw DamagedRow(table: "credential") }
                return .key(teamID: teamID, keyID: keyID, privateKey: self.secret)
            case "certificate":
                let file = try self.file
                return .certificate(pem: file.content, passphrase: file.passphrase)
            case "archive":
                let file = try self.file
                guard let bytes = Data(base64Encoded: file.content) else { throw DamagedRow(table: "credential") }
                return .archive(p12: Array(bytes), passphrase: file.passphrase)
            default: throw DamagedRow(table: "credential")
            }
        }
    }

    private var file: File {
        get throws {
            guard let file = try? JSONDecoder().decode(File.self, from: Data(self.secret.utf8))
            else { throw DamagedRow(table: "credential") }
            return file
        }
    }
}

extension CredentialColumns {
    /// Returns the columns of a credential.
    init(_ credential: CredentialRecord) throws {
        func text(_ content: String, _ passphrase: String?) throws -> String {
            String(decoding: try JSONEncoder().encode(File(content: content, passphrase: passphrase)), as: UTF8.self)
        }
        switch credential {
        case .key(let teamID, let keyID, let privateKey):
            self.init(kind: "key", teamID: teamID, keyID: keyID, secret: privateKey)
        case .certificate(let pem, let passphrase):
            self.init(kind: "certificate", secret: try text(pem, passphrase))
        case .archive(let bytes, let passphrase):
            self.init(kind: "archive", secret: try text(Data(bytes).base64EncodedString(), passphrase))
        }
    }
}
