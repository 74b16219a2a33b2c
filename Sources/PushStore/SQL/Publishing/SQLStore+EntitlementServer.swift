import Foundation
package import ProviderModel
import PushTypes

extension SQLStore {
    package func entitlementServer(app: Int64) async throws -> EntitlementServerRecord? {
        let masterKey = self.masterKey
        return try await self.database.lookup { try $0.record(sql: Self.ofApp, [app], masterKey) }
    }

    package func setEntitlementServer(
        _ server: EntitlementServerRecord,
        keepsSecret: Bool
    ) async throws -> EntitlementServerRecord {
        let masterKey = self.masterKey
        return try await self.database.write { database in
            var server = server
            // A damaged record is replaced.
            let stored: EntitlementServerRecord? = try unlessDamaged {
                try database.record(sql: Self.ofApp, [server.app], masterKey)
            }
            if keepsSecret, let stored { server.secret = stored.secret }
            let sealed = try masterKey.seal(server.secret, for: .entitlementServer(app: server.app))
            try database.replace(
                in: "entitlementServer",
                of: .app,
                key: ["app": server.app],
                [
                    "url": server.url, "form": server.form.rawValue, "whenDown": server.whenDown.rawValue,
                    "sealed": sealed, "revision": server.revision.uuidString,
                    "changedAt": server.changedAt.milliseconds,
                ]
            )
            return server
        }
    }

    package func removeEntitlementServer(app: Int64) async throws -> Bool {
        try await self.database.run(sql: "DELETE FROM entitlementServer WHERE app = ?", [app]) > 0
    }

    private static let ofApp = "SELECT * FROM entitlementServer WHERE app = ?"
}

extension EntitlementServerRecord: StoredRecord {
    static let table = "entitlementServer"

    init(_ row: StoredRow) throws {
        let app: Int64 = try row.get("app")
        self.init(
            app: app,
            url: try row.get("url"),
            form: try row.get(raw: "form"),
            whenDown: try row.get(raw: "whenDown"),
            secret: try row.open("sealed", for: .entitlementServer(app: app)) ?? "",
            revision: try row.get("revision"),
            changedAt: try row.get("changedAt")
        )
    }
}
