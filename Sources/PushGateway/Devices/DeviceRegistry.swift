import Foundation
import GRDB
import PushSupport
import PushTypes
import PushWire
import Synchronization

/// Devices and their tokens' generations: in memory for the checks of every push, in SQLite to last.
///
/// A change is written to SQLite first and then made in memory, in the order of the transactions.
final class DeviceRegistry: Sendable {
    private struct State {
        var devices: [UUID: Device] = [:]
        /// The identities behind tokens that do not carry them.
        var shortTokens: [DeviceToken: TokenMinter.Claims] = [:]
        /// Tokens being minted, so that two requests for one get the same.
        var minting: [MinterKey: [@Sendable (Result<DeviceToken?, any Error>) -> Void]] = [:]
    }

    private struct MinterKey: Hashable {
        var device: UUID
        var environment: PushEnvironment
        var topic: TopicHash
    }

    /// Most apps of one device, both environments together.
    static let maximumInstalls = 1000

    let mint: TokenMinter
    private let commit: GroupCommit
    private let events: EventLog
    private let time: any TimeSource
    private let state: Mutex<State>

    init(
        database: any DatabaseReader,
        commit: GroupCommit,
        mint: TokenMinter,
        events: EventLog,
        time: any TimeSource
    ) throws {
        self.mint = mint
        self.commit = commit
        self.events = events
        self.time = time
        var state = State()
        let (devices, shortTokens) = try database.read { database in
            let table = DeviceTable(database: database)
            return (try table.devices(), try table.shortTokens())
        }
        for device in devices { state.devices[device.id] = device }
        for (claims, keyID) in shortTokens {
            if let token = mint.shortToken(claims, keyID: keyID) { state.shortTokens[token] = claims }
        }
        self.state = Mutex(state)
    }

    /// Those not deleted.
    var count: Int { self.state.withLock { $0.devices.values.count { $0.deletedAt == nil } } }

    /// At most `limit` of the devices that are wanted and not deleted, in the order of their activation.
    /// - Parameter cursor: the device after which to begin; it may be deleted by now. `nil` begins with the oldest.
    /// - Returns: `nil` if there never was a device `cursor`.
    func page(after cursor: UUID?, limit: Int, where isWanted: (Device) -> Bool) -> [Device]? {
        let all = self.state.withLock { $0.devices }
        var rest = all.values.filter { $0.deletedAt == nil }
        if let cursor {
            guard let start = all[cursor] else { return nil }
            rest.removeAll { !Self.isBefore(start, $0) }
        }
        return Array(rest.sorted(by: Self.isBefore).lazy.filter(isWanted).prefix(limit))
    }

    private static func isBefore(_ left: Device, _ right: Device) -> Bool {
        guard left.activatedAt == right.activatedAt else { return left.activatedAt < right.activatedAt }
        return left.id.uuidString < right.id.uuidString
    }

    /// `nil` if it was never activated, or deleted.
    func device(_ id: UUID) -> Device? {
        self.state.withLock { $0.devices[id] }.flatMap { $0.deletedAt == nil ? $0 : nil }
    }

    func status(of token: DeviceToken, in environment: PushEnvironment) -> TokenStatus {
        let opened = token.bytes.count == TokenMinter.shortLength ? nil : self.mint.open(token)
        return self.state.withLock { state in
            guard let claims = opened ?? state.shortTokens[token], claims.environment == environment,
                let device = state.devices[claims.device],
                let install = device.install(claims.topic, in: environment), claims.generation <= install.generation
            else { return .unknown }
            let ended = install.end(of: claims.generation)
            if let end = [ended, device.deletedAt].compactMap({ $0 }).min(), end <= self.time.now {
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
    /// one was sealed by an earlier token key or is not of the length that is wanted now.
    ///
    /// `nil` if there is no such device, or it has ``maximumInstalls`` apps. Waits for SQLite only where something
    /// changes.
    /// - Parameter length: ``TokenMinter/shortLength``, or 0 for a sealed one.
    func token(
        _ topic: Topic,
        on device: UUID,
        in environment: PushEnvironment,
        length: Int = 0,
        now: Timestamp,
        completion: @escaping @Sendable (Result<DeviceToken?, any Error>) -> Void
    ) {
        let hash = TopicHash(topic)
        guard let known = self.device(device) else { return completion(.success(nil)) }
        let current = known.install(hash, in: environment)
        if let current, current.isActive, current.keyID == self.mint.currentKeyID, current.tokenLength == length {
            return completion(Result { try self.token(current, device: device) })
        }
        guard current != nil || known.installs.count < Self.maximumInstalls else { return completion(.success(nil)) }
        let key = MinterKey(device: device, environment: environment, topic: hash)
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
            mintedAt: now,
            tokenLength: length
        )
        if let current { install = current.followed(by: install) }
        self.save(install, key: key)
    }

    private func save(_ install: Device.Install, key: MinterKey) {
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
        let claims = install.claims(on: device)
        guard install.tokenLength == TokenMinter.shortLength else {
            return try self.mint.deviceToken(claims, keyID: install.keyID)
        }
        return self.mint.shortToken(claims, keyID: install.keyID)
    }

    private func put(_ install: Device.Install, on device: UUID) {
        let isShort = install.tokenLength == TokenMinter.shortLength
        let claims = install.claims(on: device)
        let shortToken = isShort ? self.mint.shortToken(claims, keyID: install.keyID) : nil
        self.state.withLock { state in
            if let shortToken { state.shortTokens[shortToken] = claims }
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

    /// The user moved from the hardware `old` to new hardware: that is `device`, and `old` is no more.
    /// Whether `old` was there.
    func restore(_ device: Device, of old: UUID) async throws -> Bool {
        let now = device.activatedAt
        let deleted = try await self.change(old, Event(.deleted, device: old, time: now)) { table in
            try table.save(device)
            try table.delete(old, at: now)
        } apply: {
            $0.deletedAt = now
        }
        guard deleted != nil else { return false }
        self.state.withLock { $0.devices[device.id] = device }
        self.events.append(Event(.activated, device: device.id, time: now))
        return true
    }

    /// The device's system was installed anew: it has a new certificate, and all its tokens so far are gone.
    /// `nil` if there is no such device.
    func reinstall(_ id: UUID, certificateSerial: String, now: Timestamp) async throws -> Device? {
        try await self.change(id, Event(.activated, device: id, time: now)) { table in
            try table.reinstall(id, certificateSerial: certificateSerial, at: now)
        } apply: { device in
            device.certificateSerial = certificateSerial
            device.revokedAt = nil
            device.epoch &+= 1
            for index in device.installs.indices { device.installs[index].end(at: now) }
        }
    }

    /// The device's certificate is not good any more; its tokens stay. Whether it was there.
    func revoke(_ id: UUID, now: Timestamp) async throws -> Bool {
        try await self.change(id, Event(.revoked, device: id, time: now)) { table in
            try table.revoke(id, at: now)
        } apply: {
            $0.revokedAt = now
        } != nil
    }

    /// The device is no more: all its tokens are gone. Whether it was there.
    func delete(_ id: UUID, now: Timestamp) async throws -> Bool {
        try await self.change(id, Event(.deleted, device: id, time: now)) { table in
            try table.delete(id, at: now)
        } apply: {
            $0.deletedAt = now
        } != nil
    }

    /// The app was removed from the device. Its token is gone, at once or `delay` later, as Apple may learn of it late
    /// (reference 7.7); the device gets nothing more for it in any case. Whether it was there.
    func remove(
        _ topic: Topic,
        from id: UUID,
        in environment: PushEnvironment,
        now: Timestamp,
        delay: Duration = .zero
    ) async throws -> Bool {
        let (hash, end) = (TopicHash(topic), now.advanced(by: delay))
        guard self.isInstalled(hash, on: id, in: environment) else { return false }
        let event = Event(.appRemoved, device: id, time: now, environment: environment, topic: topic)
        return try await self.change(id, event) { table in
            try table.end(topic, on: id, in: environment, at: end)
        } apply: { device in
            for index in device.installs.indices
            where device.installs[index].hash == hash && device.installs[index].environment == environment {
                device.installs[index].end(at: end)
            }
        } != nil
    }

    /// When the device last connected or left. Written with the next group, waited for by nobody.
    func saw(_ id: UUID, at now: Timestamp) {
        self.state.withLock { $0.devices[id]?.lastSeenAt = now }
        self.commit.add {
            try DeviceTable(database: $0).saw(device: id, at: now)
        } completion: { _ in
        }
    }

    /// Writes a change, then makes it in memory. The device as it is then; `nil` if there is no such device.
    private func change(
        _ id: UUID,
        _ event: Event,
        write: @escaping @Sendable (DeviceTable) throws -> Void,
        apply: @escaping @Sendable (inout Device) -> Void
    ) async throws -> Device? {
        guard self.device(id) != nil else { return nil }
        return try await withCheckedThrowingContinuation { waiter in
            self.commit.add {
                try write(DeviceTable(database: $0))
            } completion: { result in
                waiter.resume(
                    with: result.map { () -> Device? in
                        defer { self.events.append(event) }
                        return self.state.withLock { state in
                            guard var device = state.devices[id] else { return nil }
                            apply(&device)
                            state.devices[id] = device
                            return device
                        }
                    }
                )
            }
        }
    }
}
