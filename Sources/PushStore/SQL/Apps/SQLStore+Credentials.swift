package import Foundation
package import ProviderModel
package import PushTypes

extension SQLStore {
    package func setCredential(
        _ credential: CredentialRecord,
        over transport: PushTransport,
        app: Int64,
        environment: PushEnvironment
    ) async throws {
        let columns = try CredentialColumns(credential)
        let sealed = try self.masterKey.seal(columns.secret, for: .credential(app: app, environment))
        try await self.database.write { database in
            try database.insert(
                into: "credential",
                of: .app,
                [
                    "app": app, "environment": environment.code, "kind": columns.kind, "teamID": columns.teamID,
                    "keyID": columns.keyID, "sealed": sealed, "transport": transport.rawValue,
                ],
                """
                ON CONFLICT (app, environment) DO UPDATE
                SET kind = excluded.kind, teamID = excluded.teamID, keyID = excluded.keyID,
                    sealed = excluded.sealed, transport = excluded.transport, announcedStage = NULL
                """
            )
            try Self.forgetHealth(app: app, environment: environment, in: database)
            try EnvironmentPauseTable.beginEpoch(app: app, environment: environment, in: database)
        }
    }

    package func removeCredential(app: Int64, environment: PushEnvironment) async throws -> Bool {
        try await self.database.write { database in
            let sql = "DELETE FROM credential WHERE app = ? AND environment = ?"
            // An environment that never had a credential stays in its first epoch.
            guard try database.run(sql: sql, [app, environment.code]) > 0 else { return false }
            try Self.forgetHealth(app: app, environment: environment, in: database)
            try EnvironmentPauseTable.beginEpoch(app: app, environment: environment, in: database)
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
            guard let transport = row.value("transport") as PushTransport?
            else { throw DamagedRow(table: "credential") }
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

    package func certificates() async throws -> [StoredCertificate] {
        let masterKey = self.masterKey
        return try await self.database.read { database in
            let sql = """
                SELECT credential.*, bundleID FROM credential JOIN app ON app.id = credential.app
                WHERE kind != 'key' ORDER BY bundleID, environment
                """
            return try database.rows(sql: sql).compactMap { row in
                guard let app = row["app"] as Int64?, let bundleID = row.topic("bundleID"),
                    let environment = row.environment("environment"), let seal = row["sealed"] as Data?,
                    let credential = try? Self.credential(row, app: app, environment: environment, masterKey)
                else { return nil }
                return StoredCertificate(
                    app: app,
                    bundleID: bundleID,
                    environment: environment,
                    credential: credential,
                    seal: seal,
                    announcedStage: row["announcedStage"]
                )
            }
        }
    }

    package func announceEnd(
        of certificate: StoredCertificate,
        stage: Int,
        event: Data,
        now: Timestamp
    ) async throws -> Bool {
        let sql = """
            UPDATE credential SET announcedStage = ?1
            WHERE app = ?2 AND environment = ?3 AND sealed = ?4 AND (announcedStage IS NULL OR announcedStage > ?1)
            """
        let (app, environment) = (certificate.app, certificate.environment.code)
        return try await self.database.write { database in
            let arguments: SQLArguments = [stage, app, environment, certificate.seal]
            guard try database.run(sql: sql, arguments) > 0 else { return false }
            guard try EventBlockRow.isWanted(.credential, app: app, in: database) else { return true }
            try EventBlockRow.add(.credential, event, app: app, now: now, in: database)
            return true
        }
    }

    /// Decodes the credential in a row, and opens its secret.
    /// - Throws: ``DamagedRow`` if a value is missing, or ``StoreError/wrongMasterKey`` if the secret cannot be opened.
    private static func credential(
        _ row: SQLRow,
        app: Int64,
        environment: PushEnvironment,
        _ masterKey: MasterKey
    ) throws -> CredentialRecord {
        guard let kind = row["kind"] as String?, let sealed = row["sealed"] as Data?
        else { throw DamagedRow(table: "credential") }
        let secret = try masterKey.open(sealed, for: .credential(app: app, environment))
        return try CredentialColumns(kind: kind, teamID: row["teamID"], keyID: row["keyID"], secret: secret).credential
    }

    private static func forgetHealth(app: Int64, environment: PushEnvironment, in database: any SQLConnection) throws {
        try database.run(sql: "DELETE FROM health WHERE app = ? AND environment = ?", [app, environment.code])
    }
}

/// The columns of a credential, with the secret before it is sealed.
private struct CredentialColumns {
    /// The secret of a certificate credential, which is stored as JSON.
    private struct File: Codable {
        /// The PEM text, or the `.p12` file as base64.
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
    init(_ credential: CredentialRecord) throws {
        func text(_ content: String, _ passphrase: String?) throws -> String {
            String(decoding: try JSONEncoder().encode(File(content: content, passphrase: passphrase)), as: UTF8.self)
        }
        switch credential {
        case .key(let teamID, let keyID, let privateKey):
            self.init(kind: "key", teamID: teamID, keyID: keyID, secret: privateKey)
        case .certificate(let pem, let passphrase): self.init(kind: "certificate", secret: try text(pem, passphrase))
        case .archive(let bytes, let passphrase):
            self.init(kind: "archive", secret: try text(Data(bytes).base64EncodedString(), passphrase))
        }
    }
}

// MARK: Provider tokens

extension SQLStore {
    /// The age above which stored provider tokens are deleted, because no request uses their keys any more.
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
            let issuedAt = offered.issuedAt
            try database.replace(
                in: "providerToken",
                key: ["teamID": key.teamID, "keyID": key.keyID, "fingerprint": key.fingerprint],
                ["sealed": sealed, "issuedAt": issuedAt.milliseconds, "isRefused": 0]
            )
            let oldest = issuedAt.advanced(by: .zero - Self.keptTokens)
            try database.run(sql: "DELETE FROM providerToken WHERE issuedAt < ?", oldest.milliseconds)
            return offered
        }
    }

    private static let ofKey = "WHERE teamID = ? AND keyID = ? AND fingerprint = ?"

    /// Returns the stored token of a key, or `nil` if there is none or if it cannot be opened and has to be replaced.
    private static func providerToken(
        _ key: ProviderTokenKey,
        _ masterKey: MasterKey,
        in database: any SQLConnection
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
