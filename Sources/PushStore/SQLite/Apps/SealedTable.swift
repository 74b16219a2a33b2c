import Foundation
import GRDB

/// A table with secrets that need the master key.
///
/// This is the one list of them: by it a start decides whether a missing key may be replaced, and a reset removes what no key
/// opens any more.
package struct SealedTable: Hashable, Sendable {
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

    package static let all = [
        SealedTable(
            table: "credential",
            name: "credentials",
            remedy: "set each again: 'martlet credential set'"
        ),
        SealedTable(table: "webhook", name: "webhooks", remedy: "add each again: 'martlet webhook add'"),
        SealedTable(
            table: "userSecret",
            name: "secrets for users' signatures",
            remedy: "add one for each app, and give it to the app's server (docs/provider.md)"
        ),
        SealedTable(
            table: "entitlementServer",
            name: "publishers' servers",
            remedy: "set each again: 'martlet entitlement set'"
        ),
        SealedTable(
            table: "addressKey",
            name: "keys for the addresses of files",
            remedy: "nothing to do: a new one is made, and addresses that were given out end"
        ),
        SealedTable(
            table: "bridge",
            name: "bridges with a secret",
            remedy: "set each again with its secret (docs/bridges-xmpp.md)"
        ),
        SealedTable(
            table: "vapidKey",
            name: "keys of Web Push",
            remedy: "add one for each app: browsers have to subscribe again"
        ),
        SealedTable(
            table: "webSubscription",
            name: "browsers' subscriptions",
            remedy: "each comes back when its browser subscribes again"
        ),
        SealedTable(
            table: "pushResource",
            keepsRow: true,
            name: "push resources with an address of their sender",
            remedy: "nothing to do: their senders are not told of their end"
        ),
        SealedTable(
            table: "chatSession",
            name: "sessions at chat servers",
            remedy: "each user allows it again in the app"
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
            remedy: "nothing to do: new ones are made"
        ),
        SealedTable(
            table: "masterKeyMark",
            isLost: false,
            name: "marks of the master key",
            remedy: "nothing to do: the next start makes it"
        ),
    ]

    /// The condition on a row with a secret.
    private var condition: String { "\(self.column) IS NOT NULL" }

    /// Returns `true` if the table has a secret that a new master key would lose. A database of an older version may lack the
    /// table.
    func holdsSecrets(in database: Database) throws -> Bool {
        guard self.isLost, try database.tableExists(self.table) else { return false }
        return try database.hasRow(sql: "SELECT 1 FROM \(self.table) WHERE \(self.condition) LIMIT 1")
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
