package import Foundation
package import ProviderModel
package import PushTypes

extension SQLStore {
    /// The SQL condition on an active device with a token for alerts that belongs to a push resource's installation.
    private static let isOfResource = """
        device.app = pushResource.app AND device.installation = pushResource.installation
            AND device.kind = 0 AND device.isActive = 1 AND device.hasLeft = 0
        """

    package func addPushResource(_ resource: PushResourceRecord) async throws -> PushResourceAdditionResult {
        let sealed = try self.sealed(resource)
        return try await self.database.write { database in
            let device = """
                SELECT 1 FROM device
                WHERE app = ? AND installation = ? AND kind = 0 AND isActive = 1 AND hasLeft = 0 LIMIT 1
                """
            guard try database.row(sql: device, [resource.app, resource.installation]) != nil else { return .noDevice }
            let count = "SELECT count(*) FROM pushResource WHERE app = ? AND installation = ?"
            guard
                try database.count(sql: count, [resource.app, resource.installation])
                    < PushResourceRecord.maximumCount
            else { return .tooMany }
            try database.insert(
                into: "pushResource",
                [
                    "id": resource.id.uuidString, "hash": Data(resource.hash), "app": resource.app,
                    "installation": resource.installation, "name": resource.name,
                    "vapidKey": resource.vapidKey.map { Data($0) }, "origin": resource.origin, "sealed": sealed,
                    "createdAt": resource.createdAt.milliseconds,
                ]
            )
            return .added
        }
    }

    package func pushResources(app: Int64, installation: String) async throws -> [PushResourceRecord] {
        let masterKey = self.masterKey
        let sql = "SELECT * FROM pushResource WHERE app = ? AND installation = ? ORDER BY createdAt, id"
        return try await self.database.lookup { try $0.records(sql: sql, [app, installation], masterKey) }
    }

    package func removePushResource(_ id: UUID, app: Int64, installation: String) async throws -> Bool {
        let sql = "DELETE FROM pushResource WHERE id = ? AND app = ? AND installation = ?"
        return try await self.database.run(sql: sql, [id.uuidString, app, installation]) > 0
    }

    package func pushResourceTarget(hash: [UInt8]) async throws -> PushResourceTarget? {
        let masterKey = self.masterKey
        return try await self.database.lookup { database in
            let sql = """
                SELECT pushResource.*, device.token AS token, device.environment AS environment
                FROM pushResource JOIN device ON \(Self.isOfResource)
                WHERE hash = ? ORDER BY device.registeredAt DESC LIMIT 1
                """
            guard let row = try database.row(sql: sql, [Data(hash)]) else { return nil }
            guard let token = row.token("token"), let environment = row.environment("environment")
            else { throw DamagedRow(table: "device") }
            return PushResourceTarget(
                resource: try PushResourceRecord(row: row, masterKey),
                token: token,
                environment: environment
            )
        }
    }

    package func setUnsubscribeURL(_ url: String, of resource: PushResourceRecord) async throws {
        var changed = resource
        changed.unsubscribeURL = url
        let sealed = try self.sealed(changed)
        try await self.database.write { database in
            try database.update("pushResource", ["sealed": sealed], id: resource.id.uuidString)
        }
    }

    package func endedPushResources(perApp count: Int) async throws -> [PushResourceRecord] {
        let masterKey = self.masterKey
        return try await self.database.read { database in
            let sql = """
                SELECT * FROM pushResource WHERE app = ? AND NOT EXISTS (SELECT 1 FROM device WHERE \(Self.isOfResource))
                ORDER BY createdAt, id LIMIT ?
                """
            let apps = try database.integers(sql: "SELECT id FROM app ORDER BY id")
            let lists: [[PushResourceRecord]] = try apps.map { app in
                try database.rows(sql: sql, [app, count]).compactMap { row in
                    // A push resource is removed even if its URL cannot be opened.
                    try row.readable { try PushResourceRecord(row: $0, masterKey) }
                        ?? row.readable(PushResourceRecord.init(row:))
                }
            }
            return (0..<count).flatMap { number in
                lists.compactMap { number < $0.count ? $0[number] : nil }
            }
        }
    }

    package func removeEnded(_ resources: [PushResourceRecord]) async throws {
        try await self.database.write { database in
            for resource in resources {
                let sql = """
                    DELETE FROM pushResource
                    WHERE id = ? AND NOT EXISTS (SELECT 1 FROM device WHERE \(Self.isOfResource))
                    """
                try database.run(sql: sql, [resource.id.uuidString])
            }
        }
    }

    package func addPushMessage(_ message: PushMessageRecord) async throws {
        try await self.database.write { database in
            if let topic = message.topic {
                let replaced = "DELETE FROM pushMessage WHERE resource = ? AND topic = ?"
                try database.run(sql: replaced, [message.resource.uuidString, topic])
            }
            try database.insert(
                into: "pushMessage",
                of: .pushResource,
                [
                    "id": message.id.uuidString, "app": message.app, "resource": message.resource.uuidString,
                    "tokenHash": Data(message.tokenHash), "topic": message.topic, "body": message.body,
                    "expiresAt": message.expiresAt.milliseconds,
                ]
            )
            // An engine without row ids has a column `rowid` that counts the rows of this table.
            let oldest = """
                DELETE FROM pushMessage WHERE resource = ?1 AND id NOT IN (
                    SELECT id FROM pushMessage WHERE resource = ?1 ORDER BY rowid DESC LIMIT ?2)
                """
            try database.run(sql: oldest, [message.resource.uuidString, PushMessageRecord.maximumCount])
        }
    }

    package func pushMessage(_ id: UUID, now: Timestamp) async throws -> PushMessageRecord? {
        let sql = "SELECT * FROM pushMessage WHERE id = ? AND expiresAt > ?"
        return try await self.database.lookup { try $0.record(sql: sql, [id.uuidString, now.milliseconds]) }
    }

    package func removePushMessages(expiredAt now: Timestamp, limit: Int) async throws -> Int {
        let sql = "DELETE FROM pushMessage WHERE id IN (SELECT id FROM pushMessage WHERE expiresAt <= ? LIMIT ?)"
        return try await self.database.run(sql: sql, [now.milliseconds, limit])
    }

    private func sealed(_ resource: PushResourceRecord) throws -> Data? {
        try resource.unsubscribeURL.map {
            try self.masterKey.seal($0, for: .pushResource(resource.id, app: resource.app))
        }
    }
}

extension PushResourceRecord: StoredRecord {
    static let table = "pushResource"

    init(_ row: StoredRow) throws {
        let (id, app): (UUID, Int64) = (try row.get("id"), try row.get("app"))
        self.init(
            id: id,
            hash: try row.get("hash"),
            app: app,
            installation: try row.get("installation"),
            name: try row.get("name"),
            vapidKey: row["vapidKey"],
            origin: row["origin"],
            unsubscribeURL: try row.open("sealed", for: .pushResource(id, app: app)),
            createdAt: try row.get("createdAt")
        )
    }
}

extension PushMessageRecord: StoredRecord {
    static let table = "pushMessage"

    init(_ row: StoredRow) throws {
        self.init(
            id: try row.get("id"),
            app: try row.get("app"),
            resource: try row.get("resource"),
            tokenHash: try row.get("tokenHash"),
            topic: row["topic"],
            body: try row.get("body"),
            expiresAt: try row.get("expiresAt")
        )
    }
}
