import Foundation
package import ProviderModel
import PushSupport
import PushTypes
import Synchronization

extension SQLStore {
    package var bridgeGeneration: Int { self.bridgeChanges.load(ordering: .acquiring) }

    package func bridges(kind: BridgeKind) async throws -> [BridgeRecord] {
        let masterKey = self.masterKey
        let sql = "SELECT * FROM bridge WHERE kind = ? ORDER BY name"
        return try await self.database.lookup { try $0.records(sql: sql, [kind.rawValue], masterKey) }
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
        let sql = "SELECT * FROM bridge WHERE app = ? ORDER BY kind, name"
        return try await self.database.lookup { try $0.records(sql: sql, [app], masterKey) }
    }

    package func bridge(_ kind: BridgeKind, name: String) async throws -> BridgeRecord? {
        let masterKey = self.masterKey
        return try await self.database.lookup { try Self.bridge(kind, name, masterKey, in: $0) }
    }

    package func setBridge(_ bridge: BridgeRecord, keepsSecret: Bool) async throws -> BridgeChangeResult {
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
                // A bridge of another app that uses this app's topic is replaced.
                guard row == nil || owner == bridge.app else { return .nameTaken }
                if let refusal = try Self.refusal(of: bridge, in: database) { return refusal }
                bridge.number = (try database.integer(sql: "SELECT max(number) FROM bridge") ?? 0) &+ 1
                if let row, let app = row["app"] as Int64? {
                    displaced = try AppRows(database: database).bundleID(of: app)
                }
            }
            // A damaged bridge is replaced. The secret of another app's bridge is not kept.
            let stored = try unlessDamaged { try Self.bridge(bridge.kind, bridge.name, masterKey, in: database) }
            if keepsSecret, let stored, stored.app == bridge.app { bridge.secret = stored.secret }
            try database.replace(
                in: "bridge",
                of: .app,
                key: ["kind": bridge.kind.rawValue, "name": bridge.name],
                [
                    "app": bridge.app, "environment": bridge.environment?.code,
                    "settings": String(decoding: try bridge.settings.text, as: UTF8.self),
                    "sealed": try Self.sealed(bridge, masterKey), "revision": bridge.revision.uuidString,
                    "changedAt": bridge.changedAt.milliseconds, "number": bridge.number,
                ]
            )
            return .done(bridge, displaced: displaced)
        }
    }

    package func removeBridge(_ kind: BridgeKind, name: String, app: Int64) async throws -> Bool {
        defer { self.bridgeChanges.add(1, ordering: .acquiringAndReleasing) }
        return try await self.database.write { database in
            let arguments: SQLArguments = [kind.rawValue, name, app]
            func delete(_ table: String) throws -> Int {
                try database.run(sql: "DELETE FROM \(table) WHERE kind = ? AND name = ? AND app = ?", arguments)
            }
            guard try delete("bridge") > 0 else { return false }
            // A later bridge of this name begins a new report.
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
        in database: any SQLConnection
    ) throws -> BridgeRecord? {
        try database.record(sql: "SELECT * FROM bridge WHERE kind = ? AND name = ?", [kind.rawValue, name], masterKey)
    }
}

extension BridgeRecord: StoredRecord {
    static let table = "bridge"

    init(_ row: StoredRow) throws {
        let (kind, name, app): (BridgeKind, String, Int64) = (
            try row.get(raw: "kind"), try row.get("name"), try row.get("app")
        )
        let settings: String = try row.get("settings")
        self.init(
            kind: kind,
            name: name,
            app: app,
            environment: row["environment"],
            settings: try row.need(try? JSONValue(parsing: Data(settings.utf8))),
            secret: try row.open("sealed", for: .bridge(kind, name: name, app: app)) ?? "",
            revision: try row.get("revision"),
            changedAt: try row.get("changedAt")
        )
        self.number = row["number"] ?? 0
    }
}
