package import Foundation
package import ProviderModel
import PushSupport
package import PushTypes
import Synchronization

struct AppRows {
    static let isNotStopped = "notification.app NOT IN (SELECT app FROM appStop)"

    let database: any SQLConnection

    /// Returns the SQL condition that a row belongs to none of the given apps.
    static func noneOf(_ apps: Set<Int64>) -> String {
        apps.isEmpty ? "TRUE" : "app NOT IN (\(apps.sorted().map(String.init).joined(separator: ", ")))"
    }

    /// Returns the app with a bundle id, or `nil` if there is none or if the app is being erased.
    func app(_ bundleID: Topic) throws -> AppRecord? {
        let sql = "SELECT * FROM app WHERE bundleID = ? AND isErased = 0"
        return try self.database.record(sql: sql, [bundleID.name])
    }

    func app(id: Int64) throws -> AppRecord? { try self.database.record(sql: "SELECT * FROM app WHERE id = ?", [id]) }

    func bundleID(of app: Int64) throws -> Topic? {
        try self.database.row(sql: "SELECT bundleID FROM app WHERE id = ?", [app])?.topic("bundleID")
    }

    /// Returns whether the app exists and is not being erased. Each transaction that writes for an app must check it.
    ///
    /// A request looks up its app before it reads its body, which may take long. If the app is erased meanwhile, a row
    /// that is written afterwards would never be deleted from a table without a reference to `app`.
    func has(_ id: Int64) throws -> Bool {
        try self.database.hasRow(sql: "SELECT 1 FROM app WHERE id = ? AND isErased = 0", [id])
    }

    /// Checks that the apps exist.
    /// - Throws: ``StoreError/noSuchApp(_:)`` for an app that does not exist, or is being erased.
    func check(_ apps: Set<Topic>) throws {
        for app in apps.sorted(by: { $0.name < $1.name }) {
            let sql = "SELECT 1 FROM app WHERE bundleID = ? AND isErased = 0"
            guard try self.database.hasRow(sql: sql, [app.name]) else { throw StoreError.noSuchApp(app) }
        }
    }

    fileprivate func change(_ id: Int64, _ changes: AppChanges) throws {
        func update(_ values: ColumnValues) throws { try self.database.update("app", values, id: id) }
        if let name = changes.name { try update(["name": name.value]) }
        if let rate = changes.rate { try update(["rate": rate.value]) }
        if let receipts = changes.receipts { try update(["receipts": receipts.rawValue]) }
        if let tags = changes.installationTags { try update(["installationTags": tags.stored]) }
        if let attributes = changes.installationAttributes { try update(["installationAttributes": attributes.stored]) }
        if let cap = changes.cap { try update(["capCount": cap.value?.count, "capWindow": cap.value?.window]) }
    }

    fileprivate func stop(of app: Int64) throws -> AppStop? {
        try self.database.row(sql: "SELECT * FROM appStop WHERE app = ?", [app])?.readable(AppStop.init(row:))
    }
}

extension AppRecord: StoredRecord {
    static let table = "app"

    init(_ row: StoredRow) throws {
        self.init(
            id: try row.get("id"),
            bundleID: try row.get("bundleID"),
            name: row["name"],
            rate: row["rate"],
            installationTags: NamePatterns(stored: row["installationTags"]),
            installationAttributes: NamePatterns(stored: row["installationAttributes"]),
            createdAt: try row.get("createdAt"),
            receipts: row[raw: "receipts"] ?? .none
        )
        if let count: Int = row["capCount"], let window: Int64 = row["capWindow"] {
            self.cap = FrequencyCap(count: count, window: window)
        }
    }
}

extension Set where Element == Topic {
    /// Parses the stored form of the bundle ids to which an API key or a person is limited.
    init(stored text: String) { self.init(text.split(separator: " ").compactMap { Topic(String($0)) }) }

    /// The stored form: the bundle ids separated by spaces, which no bundle id contains.
    var stored: String { self.map(\.name).sorted().joined(separator: " ") }
}

extension AppStop: StoredRecord {
    static let table = "appStop"

    init(_ row: StoredRow) throws {
        self.init(app: try row.get("app"), since: try row.get("since"), reason: row["reason"], by: row.key)
    }
}

extension SQLStore {
    package func addApp(
        bundleID: Topic,
        _ changes: AppChanges,
        now: Timestamp
    ) async throws -> (app: AppRecord, isNew: Bool) {
        let result: (app: AppRecord, isNew: Bool) = try await self.database.write { database in
            let apps = AppRows(database: database)
            if let known = try apps.app(bundleID) { return (known, false) }
            let erased = "SELECT 1 FROM app WHERE bundleID = ? AND isErased = 1"
            guard try !database.hasRow(sql: erased, [bundleID.name]) else { throw StoreError.beingErased(bundleID) }
            try database.run(sql: "UPDATE lastApp SET id = id + 1")
            guard let id = try database.integer(sql: "SELECT id FROM lastApp")
            else { throw DamagedRow(table: "lastApp") }
            let values: ColumnValues = ["id": id, "bundleID": bundleID.name, "createdAt": now.milliseconds]
            try database.insert(into: "app", values)
            try apps.change(id, changes)
            guard let app = try apps.app(bundleID) else { throw DamagedRow(table: "app") }
            return (app, true)
        }
        // Bridges of other apps may have names that now belong to this app.
        if result.isNew { self.bridgeChanges.add(1, ordering: .acquiringAndReleasing) }
        return result
    }

    package func apps() async throws -> [AppRecord] {
        try await self.database.lookup { try $0.records(sql: "SELECT * FROM app WHERE isErased = 0 ORDER BY bundleID") }
    }

    package func app(bundleID: Topic) async throws -> AppRecord? {
        try await self.database.apps.value(.appNamed(bundleID)) {
            try await self.database.lookup { try AppRows(database: $0).app(bundleID) }
        }
    }

    package func app(id: Int64) async throws -> AppRecord? {
        try await self.database.apps.value(.app(id: id)) {
            try await self.database.read { try AppRows(database: $0).app(id: id) }
        }
    }

    package func owner(of record: AppOwnedRecord) async throws -> Topic? {
        let (table, column, value): (String, String, SQLValue) =
            switch record {
            case .notification(let id): ("notification", "id", id.uuidString.sqlValue)
            case .schedule(let id): ("schedule", "id", id.uuidString.sqlValue)
            case .webhook(let id): ("webhook", "id", id.uuidString.sqlValue)
            case .publication(let id): ("publication", "id", id.uuidString.sqlValue)
            case .issue(let id): ("issue", "id", id.uuidString.sqlValue)
            case .upload(let id): ("upload", "id", id.uuidString.sqlValue)
            case .delivery(let prefix): ("notification", "prefix", prefix.bits.sqlValue)
            }
        let sql = "SELECT bundleID FROM app WHERE id = (SELECT app FROM \(table) WHERE \(column) = ?)"
        return try await self.database.lookup { try $0.row(sql: sql, [value])?.topic("bundleID") }
    }

    package func changeApp(_ id: Int64, _ changes: AppChanges) async throws -> AppRecord? {
        try await self.database.write { database in
            let apps = AppRows(database: database)
            try apps.change(id, changes)
            return try apps.app(id: id)
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

    // MARK: Stops

    package func stop(_ stop: AppStop) async throws -> AppStop {
        try await self.database.write { database in
            let values: ColumnValues = [
                "app": stop.app, "since": stop.since.milliseconds, "reason": stop.reason,
                "key": stop.by?.id.uuidString, "keyName": stop.by?.name,
            ]
            try database.insert(into: "appStop", of: .app, values, "ON CONFLICT DO NOTHING")
            return try AppRows(database: database).stop(of: stop.app) ?? stop
        }
    }

    package func resumeApp(_ app: Int64) async throws -> Bool {
        try await self.database.run(sql: "DELETE FROM appStop WHERE app = ?", [app]) > 0
    }

    package func stop(of app: Int64) async throws -> AppStop? {
        try await self.database.apps.value(.stop(app: app)) {
            try await self.database.lookup { try AppRows(database: $0).stop(of: app) }
        }
    }

    package func stops() async throws -> [AppStop] {
        try await self.database.lookup { try $0.records(sql: "SELECT * FROM appStop ORDER BY since, app") }
    }

    // MARK: Secrets for users' signatures

    package func addUserSecret(_ secret: UserSecretRecord, app: Int64, limit: Int) async throws -> Bool {
        let sealed = try self.masterKey.seal(secret.secret, for: .userSecret(secret.id, app: app))
        return try await self.database.write { database in
            guard try database.count(sql: "SELECT count(*) FROM userSecret WHERE app = ?", [app]) < limit
            else { return false }
            let (id, createdAt) = (secret.id.uuidString, secret.createdAt.milliseconds)
            let values: ColumnValues = ["id": id, "app": app, "sealed": sealed, "createdAt": createdAt]
            try database.insert(into: "userSecret", of: .app, values)
            return true
        }
    }

    package func userSecrets(app: Int64) async throws -> [UserSecretRecord] {
        let masterKey = self.masterKey
        return try await self.database.lookup { database in
            let sql = "SELECT * FROM userSecret WHERE app = ? ORDER BY createdAt, id"
            return try database.rows(sql: sql, [app]).map { row in
                guard let id = row.uuid("id"), let createdAt = row.time("createdAt"),
                    let sealed = row["sealed"] as Data?
                else { throw DamagedRow(table: "userSecret") }
                let secret = try masterKey.open(sealed, for: .userSecret(id, app: app))
                return UserSecretRecord(id: id, createdAt: createdAt, secret: secret)
            }
        }
    }

    package func deleteUserSecret(_ id: UUID, app: Int64) async throws -> Bool {
        try await self.database.run(sql: "DELETE FROM userSecret WHERE id = ? AND app = ?", [id.uuidString, app]) > 0
    }

    package func installationSecret(_ installation: String, of app: Topic) -> String {
        self.masterKey.derive("installation/\(app.name)/\(installation)")
    }
}
