import Foundation
import GRDB
import PushTypes

/// The tables behind ``ProviderRegistry``: apps, provider keys and provider certificates.
///
/// Rows with values that the gateway would not have written are left out.
struct CredentialTables {
    let database: Database

    // MARK: Apps

    func apps() throws -> [ProviderApp] {
        try self.database.rows("SELECT * FROM app").compactMap { row in
            guard let bundleID = row.topic("bundleID"), let teamID = row["teamID"] as String? else { return nil }
            return ProviderApp(
                bundleID: bundleID,
                teamID: teamID,
                allowsBroadcast: (row["allowsBroadcast"] as Bool?) ?? false,
                tokenLength: row.integer("tokenLength").flatMap { ProviderApp.tokenLengths.contains($0) ? $0 : nil }
            )
        }
    }

    func insert(_ app: ProviderApp) throws {
        try self.database.run(
            "INSERT INTO app (bundleID, teamID, allowsBroadcast, tokenLength) VALUES (?, ?, ?, ?)",
            [app.bundleID.name, app.teamID, app.allowsBroadcast, app.tokenLength]
        )
    }

    /// Changes an app.
    /// - Returns: Whether the app exists.
    func update(app bundleID: Topic, _ change: ProviderAppChange) throws -> Bool {
        try self.database.run(
            """
            UPDATE app SET allowsBroadcast = coalesce(?, allowsBroadcast),
                           tokenLength = iif(?, ?, tokenLength)
            WHERE bundleID = ?
            """,
            [change.allowsBroadcast, change.tokenLength != nil, change.tokenLength ?? nil, bundleID.name]
        )
        return self.database.changesCount > 0
    }

    func delete(app bundleID: Topic) throws {
        try self.database.run("DELETE FROM app WHERE bundleID = ?", [bundleID.name])
    }

    // MARK: Keys

    func keys() throws -> [RegisteredKey] {
        try self.database.rows("SELECT * FROM key").compactMap { row in
            guard let teamID = row["teamID"] as String?, let keyID = row["keyID"] as String?,
                let publicKey = row["publicKey"] as Data?, let scope = Self.scope(row)
            else { return nil }
            return RegisteredKey(
                teamID: teamID,
                keyID: keyID,
                publicKey: Array(publicKey),
                scope: scope,
                revokedAt: row.timestamp("revokedAt")
            )
        }
    }

    private static func scope(_ row: Row) -> RegisteredKey.Scope? {
        switch (row["scope"] as String?, row.environment()) {
        case ("team", _): return .team
        case ("environment", let environment?): return .environment(environment)
        case ("topics", let environment?):
            return .topics(
                .init(topics: row.topics("topics"), environment: environment, relatedKeyID: row["relatedKeyID"])
            )
        default: return nil
        }
    }

    func insert(_ key: RegisteredKey) throws {
        let (scope, topics) = (key.scope, key.scope.topics)
        try self.database.run(
            """
            INSERT INTO key (keyID, teamID, publicKey, scope, environment, topics, relatedKeyID)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                key.keyID, key.teamID, Data(key.publicKey), scope.name.rawValue, scope.environment?.rawValue,
                topics.map { Self.text($0.topics) }, topics?.relatedKeyID,
            ]
        )
    }

    func revoke(key keyID: String, now: Timestamp) throws {
        try self.database.run("UPDATE key SET revokedAt = ? WHERE keyID = ?", [now.milliseconds, keyID])
    }

    // MARK: Certificates

    func certificates() throws -> [ProviderCertificate] {
        try self.database.rows("SELECT * FROM certificate").compactMap { row in
            guard let serial = row["serial"] as String?, let topic = row.topic("topic"),
                let environments = row["environments"] as String?, let issuedAt = row.timestamp("issuedAt"),
                let expiresAt = row.timestamp("expiresAt")
            else { return nil }
            return ProviderCertificate(
                serial: serial,
                topic: topic,
                topics: row.topics("topics"),
                environments: Set(
                    environments.split(separator: " ").compactMap { PushEnvironment(rawValue: String($0)) }
                ),
                issuedAt: issuedAt,
                expiresAt: expiresAt,
                revokedAt: row.timestamp("revokedAt")
            )
        }
    }

    func insert(_ certificate: ProviderCertificate) throws {
        try self.database.run(
            """
            INSERT INTO certificate (serial, topic, environments, topics, issuedAt, expiresAt)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                certificate.serial, certificate.topic.name,
                certificate.environments.map(\.rawValue).sorted().joined(separator: " "),
                Self.text(certificate.topics), certificate.issuedAt.milliseconds, certificate.expiresAt.milliseconds,
            ]
        )
    }

    func revoke(certificate serial: String, now: Timestamp) throws {
        try self.database.run("UPDATE certificate SET revokedAt = ? WHERE serial = ?", [now.milliseconds, serial])
    }

    /// Encodes topics as the string that `Row.topics(_:)` parses.
    private static func text(_ topics: Set<Topic>) -> String { topics.map(\.name).sorted().joined(separator: " ") }
}
