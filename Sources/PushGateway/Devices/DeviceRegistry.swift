import Foundation
import GRDB
import PushProtocol
import Synchronization

/// Devices and their tokens' generations: in memory for the checks of every push, in SQLite to last.
///
/// A change is written to SQLite first and then to memory.
final class DeviceRegistry: Sendable {
    private struct State {
        var devices: [UUID: Device] = [:]
        /// Tokens being minted, so that two requests for one get the same.
        var minting: [MintKey: [@Sendable (Result<DeviceToken?, any Error>) -> Void]] = [:]
    }

    private struct MintKey: Hashable {
        var device: UUID
        var environment: PushEnvironment
        var topic: TopicHash
    }

    /// Most apps of one device, both environments together.
    static let maximumInstalls = 1000

    let mint: TokenMint
    private let commit: GroupCommit
    private let events: EventLog
    private let state: Mutex<State>

    init(database: any DatabaseReader, commit: GroupCommit, mint: TokenMint, events: EventLog) throws {
        self.mint = mint
        self.commit = commit
        self.events = events
        var state = State()
        for device in try database.read({ try DeviceTable(database: $0).devices() }) {
            state.devices[device.id] = device
        }
        self.state = Mutex(state)
    }

    /// Those not deleted, oldest first.
    var devices: [Device] {
        self.state.withLock { $0.devices.values.filter { $0.deletedAt == nil } }
            .sorted { ($0.activatedAt, $0.id.uuidString) < ($1.activatedAt, $1.id.uuidString) }
    }

    var count: Int { self.state.withLock { $0.devices.count } }

    /// `nil` if it was never activated, or deleted.
    func device(_ id: UUID) -> Device? {
        self.state.withLock { $0.devices[id] }.flatMap { $0.deletedAt == nil ? $0 : nil }
    }

    func status(of token: DeviceToken, in environment: PushEnvironment) -> TokenStatus {
        guard let claims = self.mint.open(token), claims.environment == environment else { return .unknown }
        return self.state.withLock { state in
            guard let device = state.devices[claims.device],
                let install = device.install(claims.topic, in: environment), claims.generation <= install.generation
            else { return .unknown }
            let ended = install.end(of: claims.generation)
            if let end = [ended, device.deletedAt].compactMap({ $0 }).min() {
                return .gone(device: device.id, topic: claims.topic, since: end)
            }
            return .active(device: device.id, topic: claims.topic)
        }
    }

    func isInstalled(_ topic: TopicHash, on device: UUID, in environment: PushEnvironment) -> Bool {
        self.state.withLock { state in
            guard let device = state.devices[device], device.deletedAt == nil else { return false }
            return device.install(topic, in: environment)?.isActive ?? false
        }
    }

    /// The topic that `hash` stands for on this device, also after the app was removed.
    func topic(_ hash: TopicHash, on device: UUID, in environment: PushEnvironment) -> Topic? {
        self.state.withLock { $0.devices[device]?.install(hash, in: environment)?.topic }
    }

    // MARK: Tokens

    /// The device token of an app that is on the device now.
    func currentToken(_ topic: TopicHash, on device: UUID, in environment: PushEnvironment) throws -> DeviceToken? {
        guard let install = self.device(device)?.install(topic, in: environment), install.isActive else { return nil }
        return try self.token(install, device: device)
    }

    /// The device token of an app; installs the app if it is new or was removed, and mints a new token if the current
    /// one was sealed by an earlier token key.
    ///
    /// `nil` if there is no such device, or it has ``maximumInstalls`` apps. Waits for SQLite only where something
    /// changes.
    func token(
        _ topic: Topic,
        on device: UUID,
        in environment: PushEnvironment,
        now: Timestamp,
        completion: @escaping @Sendable (Result<DeviceToken?, any Error>) -> Void
    ) {
        let hash = TopicHash(topic)
        guard let known = self.device(device) else { return completion(.success(nil)) }
        let current = known.install(hash, in: environment)
        if let current, current.isActive, current.keyID == self.mint.currentKeyID {
            return completion(Result { try self.token(current, device: device) })
        }
        guard current != nil || known.installs.count < Self.maximumInstalls else { return completion(.success(nil)) }
        let key = MintKey(device: device, environment: environment, topic: hash)
        let isFirst = self.state.withLock { state in
            state.minting[key, default: []].append(completion)
            return state.minting[key]?.count == 1
        }
        guard isFirst else { return }
        var install = Device.Install(
            environment: environment,
            topic: topic,
            hash: hash,
            generation: (current?.generation ?? 0) &+ 1,
            keyID: self.mint.currentKeyID,
            mintedAt: now
        )
        if let current { install = current.followed(by: install) }
        self.save(install, key: key)
    }

    private func save(_ install: Device.Install, key: MintKey) {
        self.commit.add {
            try DeviceTable(database: $0).save(install, device: key.device)
        } completion: { result in
            if case .success = result {
                self.put(install, on: key.device)
                self.events.append(
                    Event(
                        .tokenMinted,
                        device: key.device,
                        time: install.mintedAt,
                        environment: install.environment,
                        topic: install.topic
                    )
                )
            }
            let token = result.flatMap { Result { try self.token(install, device: key.device) } }
            for completion in self.state.withLock({ $0.minting.removeValue(forKey: key) }) ?? [] { completion(token) }
        }
    }

    private func token(_ install: Device.Install, device: UUID) throws -> DeviceToken? {
        try self.mint.deviceToken(
            .init(
                device: device,
                topic: install.hash,
                environment: install.environment,
                generation: install.generation
            ),
            keyID: install.keyID
        )
    }

    private func put(_ install: Device.Install, on device: UUID) {
        self.state.withLock { state in
            guard var installs = state.devices[device]?.installs else { return }
            installs.removeAll { $0.hash == install.hash && $0.environment == install.environment }
            installs.append(install)
            state.devices[device]?.installs = installs
        }
    }

    // MARK: Changes by the admin door

    func activate(_ device: Device) async throws {
        try await self.commit.write { try DeviceTable(database: $0).save(device) }
        self.state.withLock { $0.devices[device.id] = device }
        self.events.append(Event(.activated, device: device.id, time: device.activatedAt))
    }

    /// The device's system was installed anew: it has a new certificate, and all its tokens so far are gone.
    /// `nil` if there is no such device.
    func reinstall(_ id: UUID, certificateSerial: String, now: Timestamp) async throws -> Device? {
        guard var device = self.device(id) else { return nil }
        device.certificateSerial = certificateSerial
        device.revokedAt = nil
        device.epoch &+= 1
        for index in device.installs.indices where device.installs[index].isActive {
            device.installs[index].endedAt = now
        }
        try await self.replace(device, event: Event(.activated, device: id, time: now))
        return device
    }

    /// The device's certificate is not good any more; its tokens stay. Whether it was there.
    func revoke(_ id: UUID, now: Timestamp) async throws -> Bool {
        guard var device = self.device(id) else { return false }
        device.revokedAt = now
        try await self.replace(device, event: Event(.revoked, device: id, time: now))
        return true
    }

    /// The device is no more: all its tokens are gone. Whether it was there.
    func delete(_ id: UUID, now: Timestamp) async throws -> Bool {
        guard var device = self.device(id) else { return false }
        device.deletedAt = now
        try await self.replace(device, event: Event(.deleted, device: id, time: now))
        return true
    }

    /// The app was removed from the device: its token is gone. Whether it was there.
    func remove(_ topic: Topic, from id: UUID, in environment: PushEnvironment, now: Timestamp) async throws -> Bool {
        guard var install = self.device(id)?.install(TopicHash(topic), in: environment), install.isActive else {
            return false
        }
        install.endedAt = now
        let ended = install
        try await self.commit.write { try DeviceTable(database: $0).save(ended, device: id) }
        self.put(ended, on: id)
        self.events.append(Event(.appRemoved, device: id, time: now, environment: environment, topic: topic))
        return true
    }

    /// When the device last connected or left. Written with the next group, waited for by nobody.
    func saw(_ id: UUID, at now: Timestamp) {
        self.state.withLock { $0.devices[id]?.lastSeenAt = now }
        self.commit.add {
            try DeviceTable(database: $0).saw(device: id, at: now)
        } completion: { _ in
        }
    }

    private func replace(_ device: Device, event: Event) async throws {
        try await self.commit.write { database in
            let table = DeviceTable(database: database)
            try table.save(device)
            for install in device.installs { try table.save(install, device: device.id) }
        }
        self.state.withLock { $0.devices[device.id] = device }
        self.events.append(event)
    }
}
