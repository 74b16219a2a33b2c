import Foundation
import GRDB

/// The search for rows that cannot be read. The store leaves them out or pauses them where they would block others, so
/// that only an examination names them.
struct DamagedRows {
    let database: Database
    /// The key that must open every secret; `nil` leaves that out.
    let masterKey: MasterKey?

    /// Returns the faults in words, ``Integrity/longestList`` of each table at most.
    func faults() throws -> [String] {
        try self.apps() + self.notifications() + self.devices() + self.tokenEvents() + self.schedules()
            + self.webhooks() + self.credentials()
    }

    private func apps() throws -> [String] {
        try self.faults("SELECT * FROM app") { row in
            _ = try SQLiteStore.app(row)
        } name: {
            "app \($0["id"] as Int64? ?? 0)"
        }
    }

    /// Searches with SQL, as there may be as many events as devices.
    private func tokenEvents() throws -> [String] {
        try Int64.fetchAll(
            self.database,
            sql: """
                SELECT id FROM tokenEvent
                WHERE length(token) NOT BETWEEN 1 AND 512 OR environment NOT IN (0, 1) LIMIT \(Integrity.longestList)
                """
        ).map { "token event \($0): \(Self.fault)" }
    }

    /// Leaves out notifications that have ended: nothing of them is sent any more, and there may be very many.
    private func notifications() throws -> [String] {
        try self.faults("SELECT * FROM notification WHERE finishedAt IS NULL") { row in
            _ = try NotificationRow.record(row)
        } name: {
            "notification \($0["number"] as Int64? ?? 0)"
        }
    }

    /// Searches with SQL, as there may be millions of devices.
    private func devices() throws -> [String] {
        try Int64.fetchAll(
            self.database,
            sql: """
                SELECT id FROM device
                WHERE length(token) NOT BETWEEN 1 AND 512 OR environment NOT IN (0, 1)
                    OR attributes IS NOT NULL AND (NOT json_valid(attributes) OR substr(attributes, 1, 1) != '{')
                LIMIT \(Integrity.longestList)
                """
        ).map { "device \($0): \(Self.fault)" }
    }

    private func schedules() throws -> [String] {
        try self.faults("SELECT * FROM schedule") { row in
            _ = try SQLiteStore.schedule(row)
        } name: {
            "schedule \($0["id"] as String? ?? "")"
        }
    }

    private func webhooks() throws -> [String] {
        try self.faults("SELECT * FROM webhook") { row in
            _ = try SQLiteStore.webhook(row, self.masterKey)
        } name: {
            "webhook \($0["id"] as String? ?? "")"
        }
    }

    private func credentials() throws -> [String] {
        guard let masterKey else { return [] }
        return try self.faults("SELECT app, environment, sealed FROM credential") { row in
            guard let sealed = row["sealed"] as Data?, let app = row["app"] as Int64?,
                let environment = row.environment("environment"),
                (try? masterKey.open(sealed, for: .credential(app: app, environment))) != nil
            else {
                throw DamagedRow(table: "credential")
            }
        } name: {
            "credential of app \($0["app"] as Int64? ?? 0), environment \($0["environment"] as Int64? ?? 0)"
        }
    }

    private static let fault = "what is stored of it cannot be read"

    /// Reads rows, and returns a fault for each that throws ``DamagedRow``.
    private func faults(_ sql: String, _ read: (Row) throws -> Void, name: (Row) -> String) throws -> [String] {
        let rows = try Row.fetchCursor(self.database, sql: sql)
        var faults: [String] = []
        while let row = try rows.next(), faults.count < Integrity.longestList {
            do {
                try read(row)
            } catch is DamagedRow {
                faults.append("\(name(row)): \(Self.fault)")
            }
        }
        return faults
    }
}
