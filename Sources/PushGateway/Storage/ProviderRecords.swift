import Foundation
import GRDB
import PushTypes

/// The rows behind ``ProviderRegistry``. Lists in a column are separated by blanks, which no topic has.
struct ProviderRecords {
    var apps: [ProviderApp] = []
    var keys: [RegisteredKey] = []
    var certificates: [ProviderCertificate] = []

    /// Reads everything. Rows that hold something else than was written are left out.
    init(_ database: Database) throws {
        self.apps = try Row.fetchAll(database, sql: "SELECT * FROM app").compactMap(Self.app)
        self.keys = try Row.fetchAll(database, sql: "SELECT * FROM key").compactMap(Self.key)
        self.certificates = try Row.fetchAll(database, sql: "SELECT * FROM certificate").compactMap(Self.certificate)
    }

    private static func app(_ row: Row) -> ProviderApp? {
        guard let bundleID = (row["bundleID"] as String?).flatMap({ Topic($0) }), let teamID = row["teamID"] as String?
        else { return nil }
        return ProviderApp(
            bundleID: bundleID,
            teamID: teamID,
            allowsBroadcast: (row["allowsBroadcast"] as Bool?) ?? false,
            tokenLength: (row["tokenLength"] as Int?).flatMap { ProviderApp.tokenLengths.contains($0) ? $0 : nil }
        )
    }

    private static func key(_ row: Row) -> RegisteredKey? {
        guard let teamID = row["teamID"] as String?, let keyID = row["keyID"] as String?,
            let publicKey = row["publicKey"] as Data?, let scope = Self.scope(row)
        else { return nil }
        return RegisteredKey(
            teamID: teamID,
            keyID: keyID,
            publicKey: Array(publicKey),
            scope: scope,
            revokedAt: (row["revokedAt"] as Int64?).map(Timestamp.init(milliseconds:))
        )
    }

    private static func scope(_ row: Row) -> RegisteredKey.Scope? {
        let environment = (row["environment"] as String?).flatMap(PushEnvironment.init(rawValue:))
        switch (row["scope"] as String?, environment) {
        case ("team", _): return .team
        case ("environment", let environment?): return .environment(environment)
        case ("topics", let environment?):
            return .topics(
                .init(
                    topics: Self.topics(row["topics"]),
                    environment: environment,
                    relatedKeyID: row["relatedKeyID"]
                )
            )
        default: return nil
        }
    }

    private static func certificate(_ row: Row) -> ProviderCertificate? {
        guard let serial = row["serial"] as String?, let topic = (row["topic"] as String?).flatMap({ Topic($0) }),
            let environments = row["environments"] as String?, let issuedAt = row["issuedAt"] as Int64?,
            let expiresAt = row["expiresAt"] as Int64?
        else { return nil }
        return ProviderCertificate(
            serial: serial,
            topic: topic,
            topics: Self.topics(row["topics"]),
            environments: Set(environments.split(separator: " ").compactMap { PushEnvironment(rawValue: String($0)) }),
            issuedAt: Timestamp(milliseconds: issuedAt),
            expiresAt: Timestamp(milliseconds: expiresAt),
            revokedAt: (row["revokedAt"] as Int64?).map(Timestamp.init(milliseconds:))
        )
    }

    private static func topics(_ text: String?) -> Set<Topic> {
        Set((text ?? "").split(separator: " ").compactMap { Topic($0) })
    }

    private static func text(_ topics: Set<Topic>) -> String {
        topics.map(\.name).sorted().joined(separator: " ")
    }
}

extension ProviderRecords {
    static func insert(_ app: ProviderApp, in database: Database) throws {
        try database.execute(
            sql: "INSERT INTO app (bundleID, teamID, allowsBroadcast, tokenLength) VALUES (?, ?, ?, ?)",
            arguments: [app.bundleID.name, app.teamID, app.allowsBroadcast, app.tokenLength]
        )
    }

    /// Tells whether there is such an app.
    static func update(app bundleID: Topic, _ change: ProviderAppChange, in database: Database) throws -> Bool {
        try database.execute(
            sql: """
                UPDATE app SET allowsBroadcast = coalesce(?, allowsBroadcast),
                               tokenLength = iif(?, ?, tokenLength)
                WHERE bundleID = ?
                """,
            arguments: [
                change.allowsBroadcast, change.tokenLength != nil, change.tokenLength ?? nil, bundleID.name,
            ]
        )
        return database.changesCount > 0
    }

    static func delete(app bundleID: Topic, in database: Database) throws {
        try database.execute(sql: "DELETE FROM app WHERE bundleID = ?", arguments: [bundleID.name])
    }

    static func insert(_ key: RegisteredKey, in database: Database) throws {
        let row: (scope: String, environment: String?, topics: String?, related: String?) =
            switch key.scope {
            case .team: ("team", nil, nil, nil)
            case .environment(let environment): ("environment", environment.rawValue, nil, nil)
            case .topics(let scope):
                ("topics", scope.environment.rawValue, Self.text(scope.topics), scope.relatedKeyID)
            }
        try database.execute(
            sql: """
                INSERT INTO key (keyID, teamID, publicKey, scope, environment, topics, relatedKeyID)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                key.keyID, key.teamID, Data(key.publicKey), row.scope, row.environment, row.topics, row.related,
            ]
        )
    }

    static func revoke(key keyID: String, now: Timestamp, in database: Database) throws {
        try database.execute(
            sql: "UPDATE key SET revokedAt = ? WHERE keyID = ?",
            arguments: [now.milliseconds, keyID]
        )
    }

    static func insert(_ certificate: ProviderCertificate, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO certificate (serial, topic, environments, topics, issuedAt, expiresAt)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                certificate.serial, certificate.topic.name,
                certificate.environments.map(\.rawValue).sorted().joined(separator: " "),
                Self.text(certificate.topics), certificate.issuedAt.milliseconds, certificate.expiresAt.milliseconds,
            ]
        )
    }

    static func revoke(certificate serial: String, now: Timestamp, in database: Database) throws {
        try database.execute(
            sql: "UPDATE certificate SET revokedAt = ? WHERE serial = ?",
            arguments: [now.milliseconds, serial]
        )
    }
}
