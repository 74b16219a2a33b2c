import Foundation
import GRDB
import PushProtocol
import Synchronization

/// Devices and their tokens' generations: in memory for the checks of every push, in SQLite to last.
///
/// A change is written to SQLite first and then to memory.
final class Registry: Sendable {
    struct Device: Hashable, Sendable {
        var id: UUID
        var name: String?
        var activatedAt: Timestamp
        var deletedAt: Timestamp?
        /// By topic hash: the apps of this device.
        var registrations: [TopicHash: Registration] = [:]
    }

    struct Registration: Hashable, Sendable {
        var topic: Topic
        /// Counts installations: a token of an earlier one is gone.
        var generation: UInt32
        var isActive: Bool
        /// When the app was last removed.
        var endedAt: Timestamp?
    }

    private struct State {
        var devices: [UUID: Device] = [:]
    }

    private let database: any DatabaseWriter
    private let providers: ProviderRegistry
    private let mint: TokenMint
    private let environment: PushEnvironment
    private let state: Mutex<State>

    init(
        database: any DatabaseWriter,
        providers: ProviderRegistry,
        mint: TokenMint,
        environment: PushEnvironment
    ) throws {
        self.database = database
        self.providers = providers
        self.mint = mint
        self.environment = environment
        let records = try database.read(RegistryRecords.init)
        var state = State()
        for device in records.devices { state.devices[device.id] = device }
        self.state = Mutex(state)
    }

    /// Those not deleted, oldest first.
    var devices: [Device] {
        self.state.withLock { $0.devices.values.filter { $0.deletedAt == nil } }
            .sorted { ($0.activatedAt, $0.id.uuidString) < ($1.activatedAt, $1.id.uuidString) }
    }

    func device(_ id: UUID) -> Device? {
        self.state.withLock { $0.devices[id] }.flatMap { $0.deletedAt == nil ? $0 : nil }
    }

    func topic(for hash: TopicHash) -> Topic? { self.providers.topic(for: hash) }

    func status(of token: DeviceToken) -> TokenStatus {
        guard let claims = self.mint.open(token), claims.environment == self.environment,
            let device = self.state.withLock({ $0.devices[claims.device] }),
            let registration = device.registrations[claims.topic],
            claims.generation <= registration.generation
        else { return .unknown }
        if let deletedAt = device.deletedAt { return .gone(device: device.id, topic: claims.topic, since: deletedAt) }
        guard registration.isActive, claims.generation == registration.generation else {
            let since = registration.endedAt ?? device.activatedAt
            return .gone(device: device.id, topic: claims.topic, since: since)
        }
        return .active(device: device.id, topic: claims.topic)
    }

    func activate(_ device: Device) async throws {
        try await self.database.write { database in
            try RegistryRecords.insert(device: device, in: database)
            try EventTable(database: database).append([Event(.activated, device: device.id, time: device.activatedAt)])
        }
        self.state.withLock { $0.devices[device.id] = device }
    }

    /// The device token of an app on a device; installs the app there if it is new or was removed.
    ///
    /// `nil` if there is no such device, or no app with this topic.
    func token(device id: UUID, topic hash: TopicHash, now: Timestamp) async throws -> DeviceToken? {
        guard let device = self.device(id), let topic = self.topic(for: hash) else { return nil }
        let registration: Registration
        if let known = device.registrations[hash], known.isActive {
            registration = known
        } else {
            let ended = device.registrations[hash]
            let new = Registration(
                topic: topic,
                generation: (ended?.generation ?? 0) &+ 1,
                isActive: true,
                endedAt: ended?.endedAt
            )
            try await self.save(new, device: id, event: Event(.tokenMinted, device: id, time: now, topic: topic))
            registration = new
        }
        return try self.token(registration, device: id)
    }

    /// The device token of an app that is on the device now.
    func currentToken(device id: UUID, topic hash: TopicHash) throws -> DeviceToken? {
        guard let registration = self.device(id)?.registrations[hash], registration.isActive else { return nil }
        return try self.token(registration, device: id)
    }

    private func token(_ registration: Registration, device id: UUID) throws -> DeviceToken? {
        try self.mint.deviceToken(
            .init(
                device: id,
                topic: TopicHash(registration.topic),
                environment: self.environment,
                generation: registration.generation
            )
        )
    }

    /// The app was removed from the device: its token is gone. Whether it was there.
    func removeApp(device id: UUID, topic: Topic, now: Timestamp) async throws -> Bool {
        guard var registration = self.device(id)?.registrations[TopicHash(topic)], registration.isActive else {
            return false
        }
        registration.isActive = false
        registration.endedAt = now
        try await self.save(registration, device: id, event: Event(.appRemoved, device: id, time: now, topic: topic))
        return true
    }

    /// The device is no more: all its tokens are gone. Whether it was there.
    func delete(device id: UUID, now: Timestamp) async throws -> Bool {
        guard self.device(id) != nil else { return false }
        try await self.database.write { database in
            try RegistryRecords.delete(device: id, now: now, in: database)
            try MessageTable(database: database).removeAll(device: id)
            try EventTable(database: database).append([Event(.deleted, device: id, time: now)])
        }
        self.state.withLock { $0.devices[id]?.deletedAt = now }
        return true
    }

    private func save(_ registration: Registration, device id: UUID, event: Event) async throws {
        try await self.database.write { database in
            try RegistryRecords.save(registration, device: id, in: database)
            if !registration.isActive {
                try MessageTable(database: database).remove(device: id, topic: registration.topic)
            }
            try EventTable(database: database).append([event])
        }
        self.state.withLock { $0.devices[id]?.registrations[TopicHash(registration.topic)] = registration }
    }
}
