import Foundation
import GRDB
import PushProtocol

/// The rows behind ``Registry``.
struct RegistryRecords {
    var devices: [Registry.Device] = []

    /// Reads everything. Rows that hold something else than was written are left out.
    init(_ database: Database) throws {
        let registrations = try Self.registrations(database)
        self.devices = try Row.fetchAll(database, sql: "SELECT * FROM device").compactMap { row in
            guard let id = (row["id"] as String?).flatMap(UUID.init(uuidString:)),
                let activatedAt = row["activatedAt"] as Int64?
            else { return nil }
            return Registry.Device(
                id: id,
                name: row["name"],
                activatedAt: Timestamp(milliseconds: activatedAt),
                deletedAt: (row["deletedAt"] as Int64?).map(Timestamp.init(milliseconds:)),
                registrations: registrations[id] ?? [:]
            )
        }
    }

    private static func registrations(_ database: Database) throws -> [UUID: [TopicHash: Registry.Registration]] {
        var all: [UUID: [TopicHash: Registry.Registration]] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT * FROM registration") {
            guard let device = (row["device"] as String?).flatMap(UUID.init(uuidString:)),
                let topic = (row["topic"] as String?).flatMap({ Topic($0) }),
                let generation = (row["generation"] as Int64?).flatMap(UInt32.init(exactly:)),
                let isActive = row["isActive"] as Bool?
            else { continue }
            all[device, default: [:]][TopicHash(topic)] = Registry.Registration(
                topic: topic,
                generation: generation,
                isActive: isActive,
                endedAt: (row["endedAt"] as Int64?).map(Timestamp.init(milliseconds:))
            )
        }
        return all
    }

    static func insert(device: Registry.Device, in database: Database) throws {
        try database.execute(
            sql: "INSERT INTO device (id, name, activatedAt) VALUES (?, ?, ?)",
            arguments: [device.id.uuidString, device.name, device.activatedAt.milliseconds]
        )
    }

    static func save(_ registration: Registry.Registration, device: UUID, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO registration (device, topic, generation, isActive, endedAt) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (device, topic) DO UPDATE
                SET generation = excluded.generation, isActive = excluded.isActive, endedAt = excluded.endedAt
                """,
            arguments: [
                device.uuidString, registration.topic.name, registration.generation, registration.isActive,
                registration.endedAt?.milliseconds,
            ]
        )
    }

    static func delete(device: UUID, now: Timestamp, in database: Database) throws {
        try database.execute(
            sql: "UPDATE device SET deletedAt = ? WHERE id = ?",
            arguments: [now.milliseconds, device.uuidString]
        )
    }

    static func saw(device: UUID, at now: Timestamp, in database: Database) throws {
        try database.execute(
            sql: "UPDATE device SET lastSeenAt = ? WHERE id = ?",
            arguments: [now.milliseconds, device.uuidString]
        )
    }

    static func lastSeen(_ database: Database) throws -> [UUID: Timestamp] {
        var all: [UUID: Timestamp] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT id, lastSeenAt FROM device WHERE lastSeenAt IS NOT NULL") {
            guard let id = (row["id"] as String?).flatMap(UUID.init(uuidString:)),
                let time = row["lastSeenAt"] as Int64?
            else { continue }
            all[id] = Timestamp(milliseconds: time)
        }
        return all
    }
}
