import Foundation
import GRDB
import PushTypes
import PushWire

struct DeviceTable {
    let database: Database

    /// Returns all devices. Rows with values that the gateway would not have written are left out.
    func devices() throws -> [ActivatedDevice] {
        let installs = try self.installs()
        return try self.database.rows("SELECT * FROM device").compactMap { row in
            guard let id = row.textID("id"), let activatedAt = row.timestamp("activatedAt") else { return nil }
            return ActivatedDevice(
                id: id,
                name: row["name"],
                activatedAt: activatedAt,
                deletedAt: row.timestamp("deletedAt"),
                lastSeenAt: row.timestamp("lastSeenAt"),
                certificateSerial: row["certificateSerial"],
                revokedAt: row.timestamp("revokedAt"),
                epoch: row.integer("epoch") ?? 0,
                installs: installs[id] ?? []
            )
        }
    }

    func insert(_ device: ActivatedDevice) throws {
        try self.database.run(
            """
            INSERT INTO device (id, name, activatedAt, lastSeenAt, deletedAt, certificateSerial, revokedAt, epoch)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                device.id.uuidString, device.name, device.activatedAt.milliseconds, device.lastSeenAt?.milliseconds,
                device.deletedAt?.milliseconds, device.certificateSerial, device.revokedAt?.milliseconds,
                device.epoch,
            ]
        )
    }

    /// Writes the current generation of an app's token. The previous generation becomes invalid at the time at which
    /// this one was minted.
    func save(_ install: ActivatedDevice.Install, on device: UUID) throws {
        try self.database.run(
            """
            UPDATE install SET endedAt = ?
            WHERE device = ? AND environment = ? AND topic = ? AND generation < ? AND endedAt IS NULL
            """,
            [
                install.mintedAt.milliseconds, device.uuidString, install.environment.rawValue, install.topic.name,
                install.generation,
            ]
        )
        try self.database.run(
            """
            INSERT INTO install (device, environment, topic, generation, keyID, mintedAt, endedAt, tokenLength)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (device, environment, topic, generation) DO UPDATE SET endedAt = excluded.endedAt
            """,
            [
                device.uuidString, install.environment.rawValue, install.topic.name, install.generation, install.keyID,
                install.mintedAt.milliseconds, install.endedAt?.milliseconds, install.tokenLength,
            ]
        )
    }

    /// Records that the device's system was reinstalled: another certificate, and no app yet.
    func reinstall(_ device: UUID, certificateSerial: String, at now: Timestamp) throws {
        try self.database.run(
            "UPDATE device SET certificateSerial = ?, revokedAt = NULL, epoch = epoch + 1 WHERE id = ?",
            [certificateSerial, device.uuidString]
        )
        try self.database.run(
            "UPDATE install SET endedAt = ? WHERE device = ? AND (endedAt IS NULL OR endedAt > ?)",
            [now.milliseconds, device.uuidString, now.milliseconds]
        )
    }

    enum TimeColumn: String, Sendable {
        case lastSeenAt, revokedAt, deletedAt

        var property: WritableKeyPath<ActivatedDevice, Timestamp?> {
            switch self {
            case .lastSeenAt: \.lastSeenAt
            case .revokedAt: \.revokedAt
            case .deletedAt: \.deletedAt
            }
        }
    }

    func set(_ column: TimeColumn, of device: UUID, to time: Timestamp) throws {
        try self.database.run(
            "UPDATE device SET \(column.rawValue) = ? WHERE id = ?",
            [time.milliseconds, device.uuidString]
        )
    }

    /// Sets the time `end` from which the current token of a removed app is invalid.
    func end(_ topic: Topic, on device: UUID, in environment: PushEnvironment, at end: Timestamp) throws {
        try self.database.run(
            """
            UPDATE install SET endedAt = ? WHERE device = ? AND environment = ? AND topic = ? AND endedAt IS NULL
            """,
            [end.milliseconds, device.uuidString, environment.rawValue, topic.name]
        )
    }

    /// Returns the identities behind all tokens of 32 bytes, including earlier generations, and the ids of the keys
    /// that minted them.
    func shortTokens() throws -> [(claims: TokenMinter.Claims, keyID: UInt8)] {
        try self.database.rows(
            "SELECT * FROM install WHERE tokenLength = ?",
            [TokenMinter.shortLength]
        ).compactMap { row in
            guard let device = row.textID("device"), let install = Self.install(row) else { return nil }
            return (install.claims(on: device), install.keyID)
        }
    }

    private func installs() throws -> [UUID: [ActivatedDevice.Install]] {
        var all: [UUID: [ActivatedDevice.Install]] = [:]
        let rows = try Row.fetchCursor(
            self.database,
            sql: "SELECT * FROM install ORDER BY device, environment, topic, generation"
        )
        while let row = try rows.next() {
            guard let device = row.textID("device"), let install = Self.install(row) else { continue }
            var list = all[device] ?? []
            if let last = list.last, last.hash == install.hash, last.environment == install.environment {
                list[list.count - 1] = last.followed(by: install)
            } else {
                list.append(install)
            }
            all[device] = list
        }
        return all
    }

    private static func install(_ row: Row) -> ActivatedDevice.Install? {
        guard let topic = row.topic("topic"), let environment = row.environment(),
            let generation: UInt32 = row.integer("generation"), let keyID: UInt8 = row.integer("keyID"),
            let mintedAt = row.timestamp("mintedAt")
        else { return nil }
        return ActivatedDevice.Install(
            environment: environment,
            topic: topic,
            hash: TopicHash(topic),
            generation: generation,
            keyID: keyID,
            mintedAt: mintedAt,
            tokenLength: row.integer("tokenLength") ?? 0,
            endedAt: row.timestamp("endedAt")
        )
    }
}
