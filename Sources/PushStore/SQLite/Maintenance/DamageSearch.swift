import Foundation
import GRDB

/// The search for rows that cannot be read. The store leaves them out or pauses them where they would block others, so
/// that only an examination names them.
struct DamageSearch {
    let database: Database
    /// The key that must open every secret; `nil` leaves that out.
    let masterKey: MasterKey?

    /// Returns the faults in words, ``Integrity/longestList`` of each table at most.
    func faults() throws -> [String] {
        func name(_ kind: String, _ column: String) -> (Row) -> String {
            { row in
                let id: DatabaseValue = row[column]
                return "\(kind) \(String.fromDatabaseValue(id) ?? Int64.fromDatabaseValue(id).map { "\($0)" } ?? "")"
            }
        }
        return try self.faults("app", SQLiteStore.app, name("app", "id"))
            // Of notifications that have ended nothing is sent any more, and there may be very many.
            + self.faults(
                "notification WHERE finishedAt IS NULL",
                NotificationRow.record,
                name("notification", "number")
            )
            + self.found("device", Self.devices) + self.found("token event", Self.tokenEvents)
            + self.found("XMPP node", Self.xmppNodes)
            + self.faults("schedule", SQLiteStore.schedule, name("schedule", "id"))
            + self.faults("webhook", { try SQLiteStore.webhook($0, self.masterKey) }, name("webhook", "id"))
            + self.faults(
                "entitlementServer",
                { try SQLiteStore.entitlementServer($0, self.masterKey) },
                name("publisher's server of app", "app")
            )
            + self.faults(
                "bridge",
                { try SQLiteStore.bridge($0, self.masterKey) },
                name("bridge", "name")
            )
            + self.faults("channel", { try SQLiteStore.channel($0) }, name("channel", "id"))
            + self.webPush(name)
            + self.faults(
                "chatSession",
                { try SQLiteStore.chatSession($0, self.masterKey) },
                name("chat session", "id")
            )
            + self.faults("person", PersonRow.person, name("person", "id"))
            + self.faults("session", SQLiteStore.session, name("session", "id"))
            + self.credentials()
    }

    private static let tokenEvents = """
        SELECT id FROM tokenEvent WHERE length(token) NOT BETWEEN 1 AND 512 OR environment NOT IN (0, 1)
        """
    private static let xmppNodes = """
        SELECT id FROM xmppNode WHERE length(secretHash) != 32 OR (installation IS NULL) = (user IS NULL)
        """
    private static let devices = """
        SELECT id FROM device
        WHERE length(token) NOT BETWEEN 1 AND 512 OR environment NOT IN (0, 1) OR kind NOT BETWEEN 0 AND 10
            OR attributes IS NOT NULL AND (NOT json_valid(attributes) OR substr(attributes, 1, 1) != '{')
        """

    /// Searches with SQL, as there may be millions of rows.
    private func found(_ kind: String, _ sql: String) throws -> [String] {
        try self.database.integers(sql: "\(sql) LIMIT \(Integrity.longestList)").map { "\(kind) \($0): \(Self.fault)" }
    }

    private func credentials() throws -> [String] {
        guard let masterKey else { return [] }
        func read(_ row: Row) throws {
            guard let sealed = row["sealed"] as Data?, let app = row["app"] as Int64?,
                let environment = row.environment("environment"),
                (try? masterKey.open(sealed, for: .credential(app: app, environment))) != nil
            else { throw DamagedRow(table: "credential") }
        }
        return try self.faults("credential", read) {
            "credential of app \($0["app"] as Int64? ?? 0), environment \($0["environment"] as Int64? ?? 0)"
        }
    }

    private func webPush(_ name: (String, String) -> (Row) -> String) throws -> [String] {
        let resources = try self.faults(
            "pushResource",
            { try SQLiteStore.pushResource($0, self.masterKey) },
            name("push resource", "id")
        )
        let keys = try self.faults(
            "vapidKey",
            { try SQLiteStore.vapidKey($0, self.masterKey) },
            name("VAPID key", "id")
        )
        guard let masterKey else { return resources + keys }
        return resources + keys
            + (try self.faults(
                "webSubscription",
                { try SQLiteStore.subscription($0, masterKey) },
                name("a subscription of app", "app")
            ))
    }

    private static let fault = "what is stored of it cannot be read"

    /// Reads rows, and returns a fault for each that throws ``DamagedRow``.
    private func faults<Value>(
        _ table: String,
        _ read: (Row) throws -> Value,
        _ name: (Row) -> String
    ) throws -> [String] {
        let rows = try Row.fetchCursor(self.database, sql: "SELECT * FROM \(table)")
        var faults: [String] = []
        while let row = try rows.next(), faults.count < Integrity.longestList {
            if try row.readable(read) == nil { faults.append("\(name(row)): \(Self.fault)") }
        }
        return faults
    }
}
