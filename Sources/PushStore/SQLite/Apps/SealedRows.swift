import Foundation
import GRDB

/// The sealed secrets of a database, examined when it is opened.
struct SealedRows {
    private static let mark = "martlet"

    let database: Database
    let masterKey: MasterKey

    /// Checks that the master key is the one of this database, and leaves a mark for the next check.
    ///
    /// The key fits if it opens the mark or any secret. A row that alone cannot be opened is damaged, and stays.
    /// - Throws: ``StoreError/wrongMasterKey`` if there are secrets and nothing can be opened.
    func checkMasterKey() throws {
        if try self.hasMark() { return }
        guard try self.areOpened() else { throw StoreError.wrongMasterKey }
        let sql = "INSERT OR REPLACE INTO masterKeyMark (id, sealed) VALUES (1, ?)"
        try self.database.run(sql: sql, [try self.masterKey.seal(Self.mark, for: .mark)])
    }

    /// Returns `true` if the key opens the mark or any secret, or if there is none.
    func areOpened() throws -> Bool {
        if try self.hasMark() { return true }
        let secrets = try self.secrets()
        return secrets.isEmpty
            || secrets.contains { (try? self.masterKey.open($0.sealed, for: $0.context)) != nil }
    }

    private func hasMark() throws -> Bool {
        let mark = try Data.fetchOne(self.database, sql: "SELECT sealed FROM masterKeyMark")
        return mark.map { (try? self.masterKey.open($0, for: .mark)) == Self.mark } ?? false
    }

    /// Returns all secrets whose rows can be read, with their contexts.
    private func secrets() throws -> [(context: SecretContext, sealed: Data)] {
        let credentials = try self.database.rows(sql: "SELECT app, environment, sealed FROM credential")
            .compactMap { row -> (SecretContext, Data)? in
                guard let app = row["app"] as Int64?, let environment = row.environment("environment"),
                    let sealed = row["sealed"] as Data?
                else { return nil }
                return (.credential(app: app, environment), sealed)
            }
        let webhooks = try self.database.rows(sql: "SELECT id, app, sealed FROM webhook")
            .compactMap { row -> (SecretContext, Data)? in
                guard let id = row.uuid("id"), let app = row["app"] as Int64?, let sealed = row["sealed"] as Data?
                else { return nil }
                return (.webhook(id, app: app), sealed)
            }
        let userSecrets = try self.database.rows(sql: "SELECT id, app, sealed FROM userSecret")
            .compactMap { row -> (SecretContext, Data)? in
                guard let id = row.uuid("id"), let app = row["app"] as Int64?, let sealed = row["sealed"] as Data?
                else { return nil }
                return (.userSecret(id, app: app), sealed)
            }
        let servers = try self.database.rows(sql: "SELECT app, sealed FROM entitlementServer")
            .compactMap { row -> (SecretContext, Data)? in
                guard let app = row["app"] as Int64?, let sealed = row["sealed"] as Data? else { return nil }
                return (.entitlementServer(app: app), sealed)
            }
        let addressKeys = try self.database.rows(sql: "SELECT sealed FROM addressKey")
            .compactMap { ($0["sealed"] as Data?).map { (SecretContext.addressKey, $0) } }
        let bridges = try self.database.rows(sql: "SELECT kind, name, app, sealed FROM bridge WHERE sealed IS NOT NULL")
            .compactMap { row -> (SecretContext, Data)? in
                guard let kind = row.value("kind") as BridgeKind?, let name = row["name"] as String?,
                    let app = row["app"] as Int64?, let sealed = row["sealed"] as Data?
                else { return nil }
                return (.bridge(kind, name: name, app: app), sealed)
            }
        let chatSessions = try self.database.rows(sql: "SELECT id, app, sealed FROM chatSession")
            .compactMap { row -> (SecretContext, Data)? in
                guard let id = row.uuid("id"), let app = row["app"] as Int64?, let sealed = row["sealed"] as Data?
                else { return nil }
                return (.chatSession(id, app: app), sealed)
            }
        return credentials + webhooks + userSecrets + servers + addressKeys + bridges + chatSessions
            + (try self.webPush())
    }

    /// Returns the secrets of Web Push. Of the subscriptions some suffice: there may be millions.
    private func webPush() throws -> [(context: SecretContext, sealed: Data)] {
        let subscriptions = try self.database.rows(sql: "SELECT app, token, sealed FROM webSubscription LIMIT 100")
            .compactMap { row -> (SecretContext, Data)? in
                guard let app = row["app"] as Int64?, let token = row.token("token"),
                    let sealed = row["sealed"] as Data?
                else { return nil }
                return (.webSubscription(token, app: app), sealed)
            }
        func secrets(_ table: String, _ context: (UUID, Int64) -> SecretContext) throws -> [(SecretContext, Data)] {
            try self.database.rows(sql: "SELECT id, app, sealed FROM \(table) WHERE sealed IS NOT NULL LIMIT 100")
                .compactMap { row in
                    guard let id = row.uuid("id"), let app = row["app"] as Int64?, let sealed = row["sealed"] as Data?
                    else { return nil }
                    return (context(id, app), sealed)
                }
        }
        return subscriptions + (try secrets("vapidKey") { .vapidKey($0, app: $1) })
            + (try secrets("pushResource") { .pushResource($0, app: $1) })
    }
}
