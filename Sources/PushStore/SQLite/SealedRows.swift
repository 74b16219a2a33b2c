import Foundation
import GRDB

/// The sealed secrets of a database, looked at when it is opened.
struct SealedRows {
    private static let mark = "martlet"

    private struct Secret {
        var place: SecretContext
        var sealed: Data
        /// The statement that writes it anew.
        var update: (sql: String, arguments: StatementArguments)
    }

    let database: Database
    let masterKey: MasterKey

    /// Checks that the master key is the one of this database, and seals for their places the secrets of versions that did
    /// not.
    ///
    /// A row that alone cannot be opened is damaged and stays as it is: it is in the way of nothing else.
    /// - Throws: ``StoreError/wrongMasterKey`` where there are secrets and nothing can be opened.
    func adopt() throws {
        let mark = try Data.fetchOne(self.database, sql: "SELECT sealed FROM masterKeyMark")
        var fits = mark.map { (try? self.masterKey.open($0, for: .mark)) == Self.mark } ?? false
        let isMarked = fits
        let secrets = try self.secrets()
        for secret in secrets {
            if (try? self.masterKey.open(secret.sealed, for: secret.place)) != nil {
                fits = true
            } else if !isMarked, let text = try? self.masterKey.openWithoutPlace(secret.sealed) {
                fits = true
                let sealed = try self.masterKey.seal(text, for: secret.place)
                try self.database.execute(sql: secret.update.sql, arguments: [sealed] + secret.update.arguments)
            }
        }
        guard fits || secrets.isEmpty else { throw StoreError.wrongMasterKey }
        if !isMarked {
            try self.database.execute(
                sql: "INSERT OR REPLACE INTO masterKeyMark (id, sealed) VALUES (1, ?)",
                arguments: [try self.masterKey.seal(Self.mark, for: .mark)]
            )
        }
    }

    private func secrets() throws -> [Secret] {
        let credentials = try Row.fetchAll(self.database, sql: "SELECT app, environment, sealed FROM credential")
            .compactMap { row -> Secret? in
                guard let app = row["app"] as Int64?, let environment = row.environment("environment"),
                    let sealed = row["sealed"] as Data?
                else { return nil }
                return Secret(
                    place: .credential(app: app, environment),
                    sealed: sealed,
                    update: (
                        "UPDATE credential SET sealed = ? WHERE app = ? AND environment = ?", [app, environment.code]
                    )
                )
            }
        let webhooks = try Row.fetchAll(self.database, sql: "SELECT id, app, sealed FROM webhook")
            .compactMap { row -> Secret? in
                guard let id = row.uuid("id"), let app = row["app"] as Int64?, let sealed = row["sealed"] as Data?
                else {
                    return nil
                }
                return Secret(
                    place: .webhook(id, app: app),
                    sealed: sealed,
                    update: ("UPDATE webhook SET sealed = ? WHERE id = ?", [id.uuidString])
                )
            }
        return credentials + webhooks
    }
}
