import Foundation
package import ProviderModel
package import PushTypes

extension SQLStore {
    package func setXMPPNode(_ node: XMPPNodeRecord) async throws -> Bool {
        try await self.database.write { database in
            let (column, owner) = node.owner.column
            let stored = try database.row(sql: "SELECT * FROM xmppNode WHERE node = ?", [node.node])
            if let stored {
                guard stored["app"] as Int64? == node.app, stored[column] as String? == owner else { return false }
                try database.run(sql: "DELETE FROM xmppNode WHERE node = ?", [node.node])
            }
            try database.insert(
                into: "xmppNode",
                of: .app,
                [
                    "node": node.node, "app": node.app, "component": node.component, "secretHash": node.secretHash,
                    column: owner, "domain": node.domain, "account": node.account,
                    "createdAt": node.createdAt.milliseconds,
                ]
            )
            let sql = """
                DELETE FROM xmppNode WHERE id IN (
                    SELECT id FROM xmppNode WHERE app = ? AND \(column) = ? ORDER BY createdAt DESC, id DESC
                    LIMIT \(Int64.max) OFFSET ?)
                """
            try database.run(sql: sql, [node.app, owner, XMPPNodeRecord.maximumPerOwner])
            return true
        }
    }

    package func xmppNode(_ node: String) async throws -> XMPPNodeRecord? {
        try await self.database.lookup { try $0.record(sql: "SELECT * FROM xmppNode WHERE node = ?", [node]) }
    }

    package func xmppNodes(app: Int64, owner: XMPPNodeRecord.Owner) async throws -> [XMPPNodeRecord] {
        let (column, value) = owner.column
        let sql = "SELECT * FROM xmppNode WHERE app = ? AND \(column) = ? ORDER BY createdAt DESC, id DESC"
        return try await self.database.lookup { try $0.records(sql: sql, [app, value]) }
    }

    package func removeXMPPNode(_ node: String, app: Int64, owner: XMPPNodeRecord.Owner?) async throws -> Bool {
        guard let (column, value) = owner?.column else {
            return try await self.database.run(sql: "DELETE FROM xmppNode WHERE node = ? AND app = ?", [node, app]) > 0
        }
        let sql = "DELETE FROM xmppNode WHERE node = ? AND app = ? AND \(column) = ?"
        return try await self.database.run(sql: sql, [node, app, value]) > 0
    }

    package func xmppTokens(
        of owner: XMPPNodeRecord.Owner,
        app: Int64,
        environment: PushEnvironment?,
        limit: Int
    ) async throws -> [DeviceToken] {
        let (column, value) = owner.column
        return try await self.database.lookup { database in
            // The plus keeps SQLite from using the primary key's order, for which it would scan all devices of the app.
            let sql = """
                SELECT token FROM device
                WHERE app = ? AND \(column) = ? AND isActive = 1 AND hasLeft = 0 AND kind = ?
                    AND environment = coalesce(?, environment)
                ORDER BY +id LIMIT ?
                """
            let arguments: SQLArguments = [app, value, DeviceTokenKind.alert.code, environment?.code, limit]
            let rows = try database.rows(sql: sql, arguments)
            let tokens = rows.compactMap { $0.token("token") }
            guard !tokens.isEmpty || rows.isEmpty else { throw DamagedRow(table: "device") }
            return tokens
        }
    }

    package func forgetXMPPNodes(before: Timestamp, limit: Int) async throws -> Int {
        let hasNoDevice = """
            NOT EXISTS (SELECT 1 FROM device WHERE app = xmppNode.app AND installation = xmppNode.installation AND hasLeft = 0)
            AND NOT EXISTS (SELECT 1 FROM device WHERE app = xmppNode.app AND user = xmppNode.user AND hasLeft = 0)
            """
        // All nodes are searched in a read, so that writers do not have to wait.
        let found = try await self.database.read { database in
            let sql = "SELECT id FROM xmppNode WHERE createdAt < ? AND \(hasNoDevice) LIMIT ?"
            return try database.integers(sql: sql, [before.milliseconds, limit])
        }
        guard !found.isEmpty else { return 0 }
        try await self.database.write { database in
            for id in found { try database.run(sql: "DELETE FROM xmppNode WHERE id = ? AND \(hasNoDevice)", [id]) }
        }
        return found.count
    }
}

extension XMPPNodeRecord: StoredRecord {
    static let table = "xmppNode"

    init(_ row: StoredRow) throws {
        let (installation, user): (String?, String?) = (row["installation"], row["user"])
        self.init(
            node: try row.get("node"),
            app: try row.get("app"),
            component: try row.get("component"),
            secretHash: try row.get("secretHash"),
            owner: try row.need(installation.map(Owner.installation) ?? user.map(Owner.user)),
            domain: try row.get("domain"),
            account: row["account"],
            createdAt: try row.get("createdAt")
        )
        guard self.secretHash.count == 32 else { throw DamagedRow(table: Self.table) }
    }
}

extension XMPPNodeRecord.Owner {
    /// The column that identifies the owner in the tables of nodes and of devices, and the owner's value in it.
    fileprivate var column: (name: String, value: String) {
        switch self {
        case .installation(let installation): ("installation", installation)
        case .user(let user): ("user", user)
        }
    }
}
