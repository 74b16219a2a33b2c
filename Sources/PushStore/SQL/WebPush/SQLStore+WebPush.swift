import Foundation
package import ProviderModel
package import PushTypes
import PushWire

extension SQLStore {
    package func vapidKeys(app: Int64) async throws -> [VAPIDKeyRecord] {
        let masterKey = self.masterKey
        let sql = "SELECT * FROM vapidKey WHERE app = ? ORDER BY createdAt DESC, id"
        return try await self.database.lookup { try $0.records(sql: sql, [app], masterKey) }
    }

    package func addVAPIDKey(_ key: VAPIDKeyRecord) async throws -> Bool {
        let text = Base64URL.encode(key.privateKey)
        let sealed = try self.masterKey.seal(text, for: .vapidKey(key.id, app: key.app))
        return try await self.database.write { database in
            // An imported key may already exist. It then becomes the newest key.
            let same = "SELECT id FROM vapidKey WHERE app = ? AND publicKey = ?"
            if let row = try database.row(sql: same, [key.app, Data(key.publicKey)]), let id = row["id"] as String? {
                let columns: ColumnValues = ["contact": key.contact, "createdAt": key.createdAt.milliseconds]
                try database.update("vapidKey", columns, id: id)
                return true
            }
            let unused = """
                DELETE FROM vapidKey WHERE app = ?1
                    AND id != (SELECT id FROM vapidKey WHERE app = ?1 ORDER BY createdAt DESC, id LIMIT 1)
                    AND NOT EXISTS (SELECT 1 FROM webSubscription WHERE webSubscription.vapidKey = vapidKey.id)
                """
            try database.run(sql: unused, [key.app])
            let count = "SELECT count(*) FROM vapidKey WHERE app = ?"
            guard try database.count(sql: count, [key.app]) < VAPIDKeyRecord.maximumCount else { return false }
            try database.insert(
                into: "vapidKey",
                of: .app,
                [
                    "id": key.id.uuidString, "app": key.app, "publicKey": Data(key.publicKey), "sealed": sealed,
                    "contact": key.contact, "createdAt": key.createdAt.milliseconds,
                ]
            )
            return true
        }
    }

    package func setVAPIDContact(_ contact: String, app: Int64) async throws -> Bool {
        try await self.database.run(sql: "UPDATE vapidKey SET contact = ? WHERE app = ?", [contact, app]) > 0
    }

    package func subscriptions(app: Int64, tokens: [DeviceToken]) async throws -> [DeviceToken: SubscriptionRecord] {
        let masterKey = self.masterKey
        return try await self.database.lookup { database in
            var found: [DeviceToken: SubscriptionRecord] = [:]
            for token in Set(tokens) {
                let sql = "SELECT * FROM webSubscription WHERE app = ? AND token = ?"
                guard let row = try database.row(sql: sql, [app, Data(token.bytes)]) else { continue }
                found[token] = try row.readable { try SubscriptionRecord(row: $0, masterKey) }
            }
            return found
        }
    }

    /// Stores the subscription that a registration contains, after the device was written.
    func store(_ registration: DeviceRegistration, app: Int64, in database: any SQLConnection) throws {
        guard let wanted = registration.subscription else { return }
        let token = registration.token
        let context = SecretContext.webSubscription(token, app: app)
        let sealed = try self.masterKey.seal(wanted.subscription.text, for: context)
        let key = try wanted.vapidKey.flatMap { publicKey in
            try database.row(sql: "SELECT id FROM vapidKey WHERE app = ? AND publicKey = ?", [app, Data(publicKey)])
        }
        let newest = "(SELECT id FROM vapidKey WHERE app = ?1 ORDER BY createdAt DESC, id LIMIT 1)"
        // A subscription keeps its key when the app gets a newer one.
        let sql = """
            INSERT INTO webSubscription (app, token, sealed, vapidKey) VALUES (?1, ?2, ?3, coalesce(?4, \(newest)))
            ON CONFLICT (app, token) DO UPDATE
            SET sealed = excluded.sealed, vapidKey = coalesce(?4, webSubscription.vapidKey, excluded.vapidKey)
            """
        try database.run(sql: sql, [app, Data(token.bytes), sealed, key?["id"] as String?])
    }
}

extension VAPIDKeyRecord: StoredRecord {
    static let table = "vapidKey"

    init(_ row: StoredRow) throws {
        let (id, app): (UUID, Int64) = (try row.get("id"), try row.get("app"))
        let privateKey = try row.open("sealed", for: .vapidKey(id, app: app))
        self.init(
            id: id,
            app: app,
            publicKey: try row.get("publicKey"),
            privateKey: try privateKey.map { Array(try row.need(Base64URL.decode($0))) } ?? [],
            contact: try row.get("contact"),
            createdAt: try row.get("createdAt")
        )
    }
}

extension SubscriptionRecord: StoredRecord {
    static let table = "webSubscription"

    /// Decodes a subscription. It is sealed as a whole, so it cannot be read without a master key.
    init(_ row: StoredRow) throws {
        let (app, token): (Int64, DeviceToken) = (try row.get("app"), try row.get("token"))
        let text = try row.need(try row.open("sealed", for: .webSubscription(token, app: app)))
        self.init(subscription: try row.need(WebPushSubscription(text: text)), vapidKey: row["vapidKey"])
    }
}
