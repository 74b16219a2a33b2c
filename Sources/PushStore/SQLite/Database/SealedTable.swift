import Foundation
import GRDB
import PushTypes

/// A table with secrets that need the master key.
///
/// This is the one list of them: by it a start decides whether a key is the right one and whether a missing one may be
/// replaced, and a reset removes what no key opens any more.
package struct SealedTable: Sendable {
    let table: String
    var column = "sealed"
    /// Indicates whether the row stays without its secret.
    var keepsRow = false
    /// Indicates whether a person or another system has to bring the secret again. The others are made anew.
    var isLost = true
    /// The secrets in the plural.
    package let name: String
    /// The step that brings them back.
    package let remedy: String
    /// Returns the context with which the secret of a row is sealed; `nil` for a row that cannot be read. The table of
    /// passwords has none: they are hashes, with a key that is derived from the master key.
    var context: (@Sendable (Row) -> SecretContext?)?

    package static let all = [
        SealedTable(
            table: "credential",
            name: "credentials",
            remedy: "set each again: 'martlet credential set'",
            context: { row in
                guard let app = row["app"] as Int64? else { return nil }
                return row.environment("environment").map { .credential(app: app, $0) }
            }
        ),
        SealedTable(
            table: "webhook",
            name: "webhooks",
            remedy: "add each again: 'martlet webhook add'",
            context: Self.byID { .webhook($0, app: $1) }
        ),
        SealedTable(
            table: "userSecret",
            name: "secrets for users' signatures",
            remedy: "add one for each app, and give it to the app's server (docs/provider.md)",
            context: Self.byID { .userSecret($0, app: $1) }
        ),
        SealedTable(
            table: "entitlementServer",
            name: "publishers' servers",
            remedy: "set each again: 'martlet entitlement set'",
            context: { row in (row["app"] as Int64?).map { .entitlementServer(app: $0) } }
        ),
        SealedTable(
            table: "addressKey",
            name: "keys for the addresses of files",
            remedy: "nothing to do: a new one is made, and addresses that were given out end",
            context: { _ in .addressKey }
        ),
        SealedTable(
            table: "bridge",
            name: "bridges with a secret",
            remedy: "set each again with its secret (docs/bridges-xmpp.md)",
            context: { row in
                guard let kind = row.value("kind") as BridgeKind?, let name = row["name"] as String?,
                    let app = row["app"] as Int64?
                else { return nil }
                return .bridge(kind, name: name, app: app)
            }
        ),
        SealedTable(
            table: "vapidKey",
            name: "keys of Web Push",
            remedy: "add one for each app: browsers have to subscribe again",
            context: Self.byID { .vapidKey($0, app: $1) }
        ),
        SealedTable(
            table: "webSubscription",
            name: "browsers' subscriptions",
            remedy: "each comes back when its browser subscribes again",
            context: { row in
                guard let app = row["app"] as Int64? else { return nil }
                return row.token("token").map { .webSubscription($0, app: app) }
            }
        ),
        SealedTable(
            table: "pushResource",
            keepsRow: true,
            name: "push resources with an address of their sender",
            remedy: "nothing to do: nobody tells their senders that they have ended",
            context: Self.byID { .pushResource($0, app: $1) }
        ),
        SealedTable(
            table: "chatSession",
            name: "sessions at chat servers",
            remedy: "each user allows it again in the app",
            context: Self.byID { .chatSession($0, app: $1) }
        ),
        SealedTable(
            table: "person",
            column: "password",
            keepsRow: true,
            name: "people's passwords",
            remedy: "make a link for each person: 'martlet person invite'"
        ),
        SealedTable(
            table: "providerToken",
            isLost: false,
            name: "provider tokens",
            remedy: "nothing to do: new ones are made",
            context: { row in
                guard let teamID = row["teamID"] as String?, let keyID = row["keyID"] as String?,
                    let fingerprint = row["fingerprint"] as String?
                else { return nil }
                return .providerToken(ProviderTokenKey(teamID: teamID, keyID: keyID, fingerprint: fingerprint))
            }
        ),
        SealedTable(
            table: "masterKeyMark",
            isLost: false,
            name: "marks of the master key",
            remedy: "nothing to do: the next start makes it",
            context: { _ in .mark }
        ),
    ]

    /// Returns the contexts of rows that have an id and an app.
    private static func byID(
        _ context: @escaping @Sendable (UUID, Int64) -> SecretContext
    ) -> @Sendable (Row) -> SecretContext? {
        { row in
            guard let id = row.uuid("id"), let app = row["app"] as Int64? else { return nil }
            return context(id, app)
        }
    }

    /// The most rows of a table that are tried with a key: there may be millions.
    private static let maximumTries = 1000

    /// The condition on a row with a secret.
    private var condition: String { "\(self.column) IS NOT NULL" }

    /// Returns `true` if the table has a secret that a new master key would lose. A database of an older version may lack the
    /// table.
    func holdsSecrets(in database: Database) throws -> Bool {
        guard self.isLost, try database.tableExists(self.table) else { return false }
        return try database.hasRow(sql: "SELECT 1 FROM \(self.table) WHERE \(self.condition) LIMIT 1")
    }

    /// Returns `true` if a key opens a secret. A database of an older version may lack the table.
    func isOpened(by masterKey: MasterKey, in database: Database) throws -> Bool {
        guard let context, try database.tableExists(self.table) else { return false }
        let sql = "SELECT * FROM \(self.table) WHERE \(self.condition) LIMIT \(Self.maximumTries)"
        let rows = try Row.fetchCursor(database, sql: sql)
        while let row = try rows.next() {
            guard let context = context(row), let sealed = row[self.column] as Data? else { continue }
            if (try? masterKey.open(sealed, for: context)) != nil { return true }
        }
        return false
    }

    /// Removes the secrets.
    /// - Returns: The number of them.
    func reset(in database: Database) throws -> Int {
        guard try database.tableExists(self.table) else { return 0 }
        let sql =
            self.keepsRow
            ? "UPDATE \(self.table) SET \(self.column) = NULL WHERE \(self.condition)"
            : "DELETE FROM \(self.table) WHERE \(self.condition)"
        return try database.run(sql: sql)
    }
}
