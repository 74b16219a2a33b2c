import Foundation
import GRDB
import PushTypes
import PushWire

/// The tables of devices and of the apps on them, one row per generation of a token.
struct DeviceTable {
    let database: Database

    /// All devices. Rows that hold something else than was written are left out.
    func devices() throws -> [Device] {
        let installs = try self.installs()
        return try Row.fetchAll(self.database, sql: "SELECT * FROM device").compactMap { row in
            guard let id = (row["id"] as String?).flatMap(UUID.init(uuidString:)),
                let activatedAt = row["activatedAt"] as Int64?
            else { return nil }
            return Device(
                id: id,
                name: row["name"],
                activatedAt: Timestamp(milliseconds: activatedAt),
                deletedAt: Self.time(row["deletedAt"]),
                lastSeenAt: Self.time(row["lastSeenAt"]),
                certificateSerial: row["certificateSerial"],
                revokedAt: Self.time(row["revokedAt"]),
                epoch: (row["epoch"] as Int64?).flatMap(UInt32.init(exactly:)) ?? 0,
                installs: installs[id] ?? []
            )
        }
    }

    /// Writes the row of a new device.
    func save(_ device: Device) throws {
        try self.database.execute(
            sql: """
                INSERT INTO device (id, name, activatedAt, lastSeenAt, deletedAt, certificateSerial, revokedAt, epoch)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                device.id.uuidString, device.name, device.activatedAt.milliseconds, device.lastSeenAt?.milliseconds,
                device.deletedAt?.milliseconds, device.certificateSerial, device.revokedAt?.milliseconds,
                device.epoch,
            ]
        )
    }

    /// Writes the current generation; the one before ends when this one was minted.
    func save(_ install: Device.Install, device: UUID) throws {
        try self.database.execute(
            sql: """
                UPDATE install SET endedAt = ?
                WHERE device = ? AND environment = ? AND topic = ? AND generation < ? AND endedAt IS NULL
                """,
            arguments: [
                install.mintedAt.milliseconds, device.uuidString, install.environment.rawValue, install.topic.name,
                install.generation,
            ]
        )
        try self.database.execute(
            sql: """
                INSERT INTO install (device, environment, topic, generation, keyID, mintedAt, endedAt, tokenLength)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (device, environment, topic, generation) DO UPDATE SET endedAt = excluded.endedAt
                """,
            arguments: [
                device.uuidString, install.environment.rawValue, install.topic.name, install.generation, install.keyID,
                install.mintedAt.milliseconds, install.endedAt?.milliseconds, install.tokenLength,
            ]
        )
    }

    /// A new installation of the device's system: another certificate, no app yet.
    func reinstall(_ device: UUID, certificateSerial: String, at now: Timestamp) throws {
        try self.database.execute(
            sql: "UPDATE device SET certificateSerial = ?, revokedAt = NULL, epoch = epoch + 1 WHERE id = ?",
            arguments: [certificateSerial, device.uuidString]
        )
        try self.database.execute(
            sql: "UPDATE install SET endedAt = ? WHERE device = ? AND (endedAt IS NULL OR endedAt > ?)",
            arguments: [now.milliseconds, device.uuidString, now.milliseconds]
        )
    }

    func revoke(_ device: UUID, at now: Timestamp) throws {
        try self.database.execute(
            sql: "UPDATE device SET revokedAt = ? WHERE id = ?",
            arguments: [now.milliseconds, device.uuidString]
        )
    }

    func delete(_ device: UUID, at now: Timestamp) throws {
        try self.database.execute(
            sql: "UPDATE device SET deletedAt = ? WHERE id = ?",
            arguments: [now.milliseconds, device.uuidString]
        )
    }

    /// The app is not on the device any more; its token is good until `end`.
    func end(_ topic: Topic, on device: UUID, in environment: PushEnvironment, at end: Timestamp) throws {
        try self.database.execute(
            sql: """
                UPDATE install SET endedAt = ? WHERE device = ? AND environment = ? AND topic = ? AND endedAt IS NULL
                """,
            arguments: [end.milliseconds, device.uuidString, environment.rawValue, topic.name]
        )
    }

    func saw(device: UUID, at now: Timestamp) throws {
        try self.database.execute(
            sql: "UPDATE device SET lastSeenAt = ? WHERE id = ?",
            arguments: [now.milliseconds, device.uuidString]
        )
    }

    /// Returns the identities behind all tokens of 32 bytes, of earlier generations too, and the keys that made them.
    func shortTokens() throws -> [(claims: TokenMinter.Claims, keyID: UInt8)] {
        try Row.fetchAll(
            self.database,
            sql: "SELECT * FROM install WHERE tokenLength = ?",
            arguments: [TokenMinter.shortLength]
        ).compactMap { row in
            guard let device = (row["device"] as String?).flatMap(UUID.init(uuidString:)),
                let install = Self.install(row)
            else { return nil }
            return (install.claims(on: device), install.keyID)
        }
    }

    private func installs() throws -> [UUID: [Device.Install]] {
        var all: [UUID: [Device.Install]] = [:]
        let rows = try Row.fetchCursor(
            self.database,
            sql: "SELECT * FROM install ORDER BY device, environment, topic, generation"
        )
        while let row = try rows.next() {
            guard let device = (row["device"] as String?).flatMap(UUID.init(uuidString:)),
                let install = Self.install(row)
            else { continue }
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

    private static func install(_ row: Row) -> Device.Install? {
        guard let topic = (row["topic"] as String?).flatMap({ Topic($0) }),
            let environment = (row["environment"] as String?).flatMap(PushEnvironment.init(rawValue:)),
            let generation = (row["generation"] as Int64?).flatMap(UInt32.init(exactly:)),
            let keyID = (row["keyID"] as Int64?).flatMap(UInt8.init(exactly:)),
            let mintedAt = Self.time(row["mintedAt"])
        else { return nil }
        return Device.Install(
            environment: environment,
            topic: topic,
            hash: TopicHash(topic),
            generation: generation,
            keyID: keyID,
            mintedAt: mintedAt,
            tokenLength: (row["tokenLength"] as Int?) ?? 0,
            endedAt: Self.time(row["endedAt"])
        )
    }

    private static func time(_ milliseconds: Int64?) -> Timestamp? { milliseconds.map(Timestamp.init(milliseconds:)) }
}

extension Device.Install {
    /// The identity behind the current token.
    func claims(on device: UUID) -> TokenMinter.Claims {
        .init(device: device, topic: self.hash, environment: self.environment, generation: self.generation)
    }

    /// The next generation, which remembers when this one and those before it ended.
    func followed(by next: Self) -> Self {
        var next = next
        next.earlier = (self.earlier + [(self.generation, self.endedAt ?? next.mintedAt)]).suffix(Self.remembered)
        return next
    }
}
