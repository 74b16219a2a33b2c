import Foundation
import GRDB
import PushSupport
package import PushTypes
import Synchronization

extension SQLiteStore {
    package func addApp(
        bundleID: Topic,
        _ changes: AppChanges,
        now: Timestamp
    ) async throws -> (app: AppRecord, isNew: Bool) {
        let result: (app: AppRecord, isNew: Bool) = try await self.database.write { database in
            if let known = try Self.app(bundleID, in: database) { return (known, false) }
            let erased = "SELECT 1 FROM app WHERE bundleID = ? AND isErased = 1"
            guard try !database.hasRow(sql: erased, [bundleID.name]) else { throw StoreError.beingErased(bundleID) }
            try database.run(sql: "UPDATE lastApp SET id = id + 1")
            guard let id = try database.integer(sql: "SELECT id FROM lastApp") else {
                throw DamagedRow(table: "lastApp")
            }
            let sql = "INSERT INTO app (id, bundleID, createdAt) VALUES (?, ?, ?)"
            try database.run(sql: sql, [id, bundleID.name, now.milliseconds])
            try Self.change(id, changes, in: database)
            guard let app = try Self.app(bundleID, in: database) else { throw DamagedRow(table: "app") }
            return (app, true)
        }
        // The names of other apps' bridges may be this app's.
        if result.isNew { self.bridgeChanges.add(1, ordering: .acquiringAndReleasing) }
        return result
    }

    package func apps() async throws -> [AppRecord] {
        try await self.database.lookup { database in
            try database.rows(sql: "SELECT * FROM app WHERE isErased = 0 ORDER BY bundleID").compactMap {
                try $0.readable(Self.app)
            }
        }
    }

    package func app(bundleID: Topic) async throws -> AppRecord? {
        try await self.database.apps.value(.appNamed(bundleID)) {
            try await self.database.lookup { try Self.app(bundleID, in: $0) }
        }
    }

    package func app(id: Int64) async throws -> AppRecord? {
        try await self.database.apps.value(.app(id: id)) {
            try await self.database.read { database in
                try database.row(sql: "SELECT * FROM app WHERE id = ?", [id]).map(Self.app)
            }
        }
    }

    package func owner(of record: AppOwnedRecord) async throws -> Topic? {
        let (table, column, value): (String, String, DatabaseValue) =
            switch record {
            case .notification(let id): ("notification", "id", id.uuidString.databaseValue)
            case .schedule(let id): ("schedule", "id", id.uuidString.databaseValue)
            case .webhook(let id): ("webhook", "id", id.uuidString.databaseValue)
            case .publication(let id): ("publication", "id", id.uuidString.databaseValue)
            case .issue(let id): ("issue", "id", id.uuidString.databaseValue)
            case .upload(let id): ("upload", "id", id.uuidString.databaseValue)
            case .delivery(let prefix): ("notification", "prefix", prefix.bits.databaseValue)
            }
        let sql = "SELECT bundleID FROM app WHERE id = (SELECT app FROM \(table) WHERE \(column) = ?)"
        return try await self.database.lookup { try $0.row(sql: sql, [value])?.topic("bundleID") }
    }

    package func changeApp(_ id: Int64, _ changes: AppChanges) async throws -> AppRecord? {
        try await self.database.write { database in
            try Self.change(id, changes, in: database)
            return try database.row(sql: "SELECT * FROM app WHERE id = ?", [id]).map(Self.app)
        }
    }

    private static func change(_ id: Int64, _ changes: AppChanges, in database: Database) throws {
        if let name = changes.name { try database.update("app", ["name": name.value], id: id) }
        if let rate = changes.rate { try database.update("app", ["rate": rate.value], id: id) }
        if let receipts = changes.receipts { try database.update("app", ["receipts": receipts.rawValue], id: id) }
        if let tags = changes.installationTags { try database.update("app", ["installationTags": tags.stored], id: id) }
        if let attributes = changes.installationAttributes {
            try database.update("app", ["installationAttributes": attributes.stored], id: id)
        }
        if let cap = changes.cap {
            try database.update("app", ["capCount": cap.value?.count, "capWindow": cap.value?.window], id: id)
        }
    }

    package func environments(app: Int64) async throws -> Set<PushEnvironment> {
        try await self.database.apps.value(.environments(app: app)) {
            let codes = try await self.database.lookup { database in
                try database.integers(sql: "SELECT environment FROM credential WHERE app = ?", [app])
            }
            return Set(codes.compactMap { PushEnvironment(code: $0) })
        }
    }

    private static func app(_ bundleID: Topic, in database: Database) throws -> AppRecord? {
        try database.row(sql: "SELECT * FROM app WHERE bundleID = ? AND isErased = 0", [bundleID.name])
            .map(Self.app)
    }

    /// Returns `true` for an app that is not being erased, within the transaction of a write for it.
    ///
    /// A request has looked its app up before its body, which may take long. A row of a table without a reference to `app` that is
    /// written after the erasure would stay.
    static func hasApp(_ id: Int64, in database: Database) throws -> Bool {
        try database.hasRow(sql: "SELECT 1 FROM app WHERE id = ? AND isErased = 0", [id])
    }

    /// Reads an app's row.
    /// - Throws: ``DamagedRow``.
    static func app(_ row: Row) throws -> AppRecord {
        guard let id = row["id"] as Int64?, let bundleID = row.topic("bundleID"), let createdAt = row.time("createdAt")
        else { throw DamagedRow(table: "app") }
        var app = AppRecord(id: id, bundleID: bundleID, name: row["name"], rate: row["rate"], createdAt: createdAt)
        app.receipts = row.value("receipts") ?? .none
        app.installationTags = NamePatterns(stored: row["installationTags"])
        app.installationAttributes = NamePatterns(stored: row["installationAttributes"])
        if let count = row["capCount"] as Int?, let window = row["capWindow"] as Int64? {
            app.cap = NotificationCap(count: count, window: window)
        }
        return app
    }
}
