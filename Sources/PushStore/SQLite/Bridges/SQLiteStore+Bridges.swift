import Foundation
import GRDB
import PushSupport
import PushTypes
import Synchronization

extension SQLiteStore {
    package var bridgeGeneration: Int { self.bridgeChanges.load(ordering: .acquiring) }

    package func bridges(kind: BridgeKind) async throws -> [BridgeRecord] {
        let masterKey = self.masterKey
        return try await self.database.lookup { database in
            try database.rows(sql: "SELECT * FROM bridge WHERE kind = ? ORDER BY name", [kind.rawValue])
                .compactMap { try? Self.bridge($0, masterKey) }
        }
    }

    package func bridgeOwners(kind: BridgeKind) async throws -> [String: Int64] {
        try await self.database.lookup { database in
            var owners: [String: Int64] = [:]
            for row in try database.rows(sql: "SELECT name, app FROM bridge WHERE kind = ?", [kind.rawValue]) {
                guard let name = row["name"] as String?, let app = row["app"] as Int64? else { continue }
                owners[name] = app
            }
            return owners
        }
    }

    package func bridges(app: Int64) async throws -> [BridgeRecord] {
        let masterKey = self.masterKey
        return try await self.database.lookup { database in
            try database.rows(sql: "SELECT * FROM bridge WHERE app = ? ORDER BY kind, name", [app])
                .compactMap { try? Self.bridge($0, masterKey) }
        }
    }

    package func bridge(_ kind: BridgeKind, name: String) async throws -> BridgeRecord? {
        let masterKey = self.masterKey
        return try await self.database.lookup { try Self.bridge(kind, name, masterKey, in: $0) }
    }

    package func setBridge(_ bridge: BridgeRecord, keepsSecret: Bool) async throws -> BridgeSetting {
        let masterKey = self.masterKey
        defer { self.bridgeChanges.add(1, ordering: .acquiringAndReleasing) }
        return try await self.database.write { database in
            var bridge = bridge
            let owner = try bridge.kind == .binary ? Self.owner(ofTopic: bridge.name, in: database) : nil
            guard owner == nil || owner == bridge.app else { return .topicTaken }
            let present = "SELECT app, number FROM bridge WHERE kind = ? AND name = ?"
            let row = try database.row(sql: present, [bridge.kind.rawValue, bridge.name])
            var displaced: Topic?
            if let row, row["app"] as Int64? == bridge.app {
                bridge.number = row["number"] as Int64? ?? 0
            } else {
                // A neighbour that took the app's topic before loses it.
                guard row == nil || owner == bridge.app else { return .nameTaken }
                if let refusal = try Self.refusal(of: bridge, in: database) { return refusal }
                bridge.number = (try database.integer(sql: "SELECT max(number) FROM bridge") ?? 0) &+ 1
                if let row, let app = row["app"] as Int64? { displaced = try Self.bundleID(of: app, in: database) }
            }
            // One that is damaged is replaced, and a neighbour's secret is not the app's.
            let stored = try? Self.bridge(bridge.kind, bridge.name, masterKey, in: database)
            if keepsSecret, let stored, stored.app == bridge.app { bridge.secret = stored.secret }
            try database.run(
                sql: """
                    INSERT OR REPLACE INTO bridge
                        (kind, name, app, environment, settings, sealed, revision, changedAt, number)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                [
                    bridge.kind.rawValue, bridge.name, bridge.app, bridge.environment?.code,
                    String(decoding: try bridge.settings.text, as: UTF8.self), try Self.sealed(bridge, masterKey),
                    bridge.revision.uuidString, bridge.changedAt.milliseconds, bridge.number,
                ]
            )
            return .done(bridge, displaced: displaced)
        }
    }

    /// Returns the reason for which a new bridge is not added; `nil` for none.
    private static func refusal(of bridge: BridgeRecord, in database: Database) throws -> BridgeSetting? {
        let count = try database.count(sql: "SELECT count(*) FROM bridge WHERE app = ?", [bridge.app])
        guard count < BridgeRecord.maximumOfApp else { return .tooMany }
        guard bridge.kind == .matrix else { return nil }
        let bundleID = try Self.bundleID(of: bridge.app, in: database)
        let claim = bundleID.map { BridgeRecord.claim(to: bridge.name, of: $0.name) } ?? 0
        let isOthers = try Self.hasOwner(bridge, beyond: claim, in: database)
        return try isOthers || Self.overlapsOthers(bridge, claim, in: database) ? .nameOverlaps : nil
    }

    /// Returns `true` if the name of a Matrix bridge begins with the bundle id of another app, and that is longer than its own app's
    /// claim: it would take the pushes of an app that has no bridge yet.
    private static func hasOwner(_ bridge: BridgeRecord, beyond claim: Int, in database: Database) throws -> Bool {
        let bundleIDs = BridgeRecord.bundleIDs(beginning: bridge.name).filter { $0.utf8.count > claim }
        guard !bundleIDs.isEmpty else { return false }
        let places = bundleIDs.map { _ in "?" }.joined(separator: ", ")
        let sql = "SELECT 1 FROM app WHERE id != ? AND isErased = 0 AND bundleID IN (\(places))"
        let arguments = StatementArguments([bridge.app.databaseValue] + bundleIDs.map(\.databaseValue))
        return try database.hasRow(sql: sql, arguments, isKept: false)
    }

    /// Returns `true` if the name of a Matrix bridge has an app id in common with that of another app's bridge, so that either
    /// would get the other's pushes.
    ///
    /// A name that begins with its app's bundle id is in nobody's way, and so no other app keeps it away with a pattern such as `*`.
    private static func overlapsOthers(_ bridge: BridgeRecord, _ claim: Int, in database: Database) throws -> Bool {
        let others = """
            SELECT bridge.name AS name, app.bundleID AS bundleID FROM bridge JOIN app ON app.id = bridge.app
            WHERE bridge.kind = ? AND bridge.app != ?
            """
        return try database.rows(sql: others, [bridge.kind.rawValue, bridge.app]).contains { row in
            guard let name = row["name"] as String?, let owner = row["bundleID"] as String?,
                GlobPattern.overlap(name, bridge.name)
            else { return false }
            return BridgeRecord.claim(to: name, of: owner) >= claim
        }
    }

    /// Returns the app to which the topic of an old provider belongs; `nil` for none.
    private static func owner(ofTopic name: String, in database: Database) throws -> Int64? {
        let sql = "SELECT id FROM app WHERE bundleID = ? AND isErased = 0"
        return try Topic(name)?.owner { try database.integer(sql: sql, [$0.name]) }
    }

    private static func bundleID(of app: Int64, in database: Database) throws -> Topic? {
        try database.row(sql: "SELECT bundleID FROM app WHERE id = ?", [app])?.topic("bundleID")
    }

    package func overruledBridges(apps: [Int64], limit: Int) async throws -> [OverruledBridge] {
        try await self.database.query(from: nil as OverruledSearch?) { database, search in
            var search = try search ?? OverruledSearch(apps: apps, in: database)
            return search.compareNext(limit: limit) ? .done(search.found) : .next(search)
        }
    }

    package func removeBridge(_ kind: BridgeKind, name: String, app: Int64) async throws -> Bool {
        defer { self.bridgeChanges.add(1, ordering: .acquiringAndReleasing) }
        return try await self.database.write { database in
            let arguments: StatementArguments = [kind.rawValue, name, app]
            func delete(_ table: String) throws -> Int {
                try database.run(sql: "DELETE FROM \(table) WHERE kind = ? AND name = ? AND app = ?", arguments)
            }
            guard try delete("bridge") > 0 else { return false }
            // Another bridge of this name is compared anew.
            _ = try (delete("shadow"), delete("shadowDifference"))
            return true
        }
    }

    private static func sealed(_ bridge: BridgeRecord, _ masterKey: MasterKey) throws -> Data? {
        guard !bridge.secret.isEmpty else { return nil }
        return try masterKey.seal(bridge.secret, for: .bridge(bridge.kind, name: bridge.name, app: bridge.app))
    }

    private static func bridge(
        _ kind: BridgeKind,
        _ name: String,
        _ masterKey: MasterKey,
        in database: Database
    ) throws -> BridgeRecord? {
        try database.row(sql: "SELECT * FROM bridge WHERE kind = ? AND name = ?", [kind.rawValue, name])
            .map { try Self.bridge($0, masterKey) }
    }

    /// Reads a bridge's row.
    /// - Parameter masterKey: The key that opens the secret; `nil` leaves the secret out.
    /// - Throws: ``DamagedRow``.
    static func bridge(_ row: Row, _ masterKey: MasterKey?) throws -> BridgeRecord {
        guard let kind = row.value("kind") as BridgeKind?, let name = row["name"] as String?,
            let app = row["app"] as Int64?, let text = row["settings"] as String?,
            let settings = try? JSONValue(parsing: Data(text.utf8)), let revision = row.uuid("revision"),
            let changedAt = row.time("changedAt")
        else { throw DamagedRow(table: "bridge") }
        var secret = ""
        if let masterKey, let sealed = row["sealed"] as Data? {
            guard let text = try? masterKey.open(sealed, for: .bridge(kind, name: name, app: app)) else {
                throw DamagedRow(table: "bridge")
            }
            secret = text
        }
        var bridge = BridgeRecord(
            kind: kind,
            name: name,
            app: app,
            environment: row.environment("environment"),
            settings: settings,
            secret: secret,
            revision: revision,
            changedAt: changedAt
        )
        bridge.number = row["number"] as Int64? ?? 0
        return bridge
    }
}
